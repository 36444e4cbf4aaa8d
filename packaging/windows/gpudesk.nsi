; The installer for Windows: for one user, without administrator rights, upgraded in place, removed without residue.
; make_installer.py calls makensis with these defined:
;   VERSION       as the program says it          NUMBERS   the same as four numbers
;   OUT           the installer to be written     PARTS     folder with install.nsh, remove.nsh and license.txt
;   ICONS         folder of icons                 SIZE_KB   what is installed
;   SIGN          optional: a command that signs the file named at its end; without it nothing is signed
;   NOT_FOR_RELEASE  optional: said on every page of an installer that only serves to check this script
;
; Command line: /S installs without a window, /D=FOLDER (last, without quotation marks) where to,
; /DOWNGRADE lets an older version replace a newer one.
; The uninstaller takes /S too, which keeps what the user entered, and /REMOVEDATA, which removes that as well.
; Exit codes: 0 done, 1 cancelled, 2 failed, 3 this Windows is too old, 4 the program is open,
; 5 a newer version is installed.

Unicode true
!include "MUI2.nsh"
!include "LogicLib.nsh"
!include "Sections.nsh"
!include "WinVer.nsh"
!include "x64.nsh"
!include "FileFunc.nsh"
!include "WordFunc.nsh"
!include "Win\COM.nsh"
!include "Win\Propkey.nsh"

!define NAME "GPU Desk"
!define APPLICATION_ID "io.github.gpudesk.GPUDesk"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\GPU Desk"
!define PATHS_KEY "Software\Microsoft\Windows\CurrentVersion\App Paths"
!define CLASSES "Software\Classes"
!define OLDEST_BUILD 17763 ; Windows 10 1809, which Qt needs
!define OLDEST_ARM_BUILD 22000 ; Windows 11, which runs programs for x86-64 on ARM

!define TOO_OLD 3
!define IS_OPEN 4
!define IS_NEWER 5

Name "${NAME}"
OutFile "${OUT}"
RequestExecutionLevel user
ManifestSupportedOS Win10
ManifestDPIAware true
InstallDir "$LOCALAPPDATA\Programs\GPU Desk"
InstallDirRegKey HKCU "${UNINSTALL_KEY}" "InstallLocation"
SetCompressor /SOLID /FINAL lzma
SetCompressorDictSize 64
ShowInstDetails nevershow
ShowUninstDetails nevershow

VIProductVersion "${NUMBERS}"
VIFileVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Installer of ${NAME}"
VIAddVersionKey "CompanyName" "GPU Desk maintainers"
VIAddVersionKey "LegalCopyright" "Licensed under the Apache License, Version 2.0"

!ifdef SIGN
  !finalize '${SIGN} "%1"' = 0
  !uninstfinalize '${SIGN} "%1"' = 0
!endif
!ifdef NOT_FOR_RELEASE
  BrandingText "${NOT_FOR_RELEASE}"
!else
  BrandingText "${NAME} ${VERSION}"
!endif

; Pages

!define MUI_ICON "${ICONS}/gpudesk.ico"
!define MUI_UNICON "${ICONS}/gpudesk.ico"
!define MUI_ABORTWARNING
!define MUI_COMPONENTSPAGE_SMALLDESC
!define MUI_FINISHPAGE_RUN "$INSTDIR\gpudesk-gui.exe"
!define MUI_FINISHPAGE_RUN_TEXT "Start ${NAME}"
!define MUI_LICENSEPAGE_TEXT_TOP "The terms of ${NAME}, and below them those of the works in it."
!insertmacro MUI_PAGE_LICENSE "${PARTS}/license.txt"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; Pieces that installer and uninstaller share

!macro _StopWhileOpen file
  ${Do}
    ClearErrors
    ${If} ${FileExists} "${file}"
      ; Windows lets nobody write to an executable that runs.
      FileOpen $R9 "${file}" a
      ${If} ${Errors}
        MessageBox MB_RETRYCANCEL|MB_ICONINFORMATION "${NAME} is open, or another program holds $\r$\n${file}$\r$\n$\r$\n\
          Save what you are doing, close all windows of ${NAME}, and then choose Retry. Nothing has been changed yet." \
          /SD IDCANCEL IDRETRY +3
        SetErrorLevel ${IS_OPEN}
        Quit
        ${Continue}
      ${EndIf}
      FileClose $R9
    ${EndIf}
    ${ExitDo}
  ${Loop}
!macroend

; Stops, with a question that can be asked again, while a program of a folder runs.
!macro StopWhileOpen folder
  !insertmacro _StopWhileOpen "${folder}\gpudesk.exe"
  !insertmacro _StopWhileOpen "${folder}\gpudesk-gui.exe"
!macroend

!macro TellShell
  ; SHCNE_ASSOCCHANGED: icons and types of files are read anew.
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
!macroend

; Registers a type of file. What another program has made of the suffix stays; the user chooses under "Open with".
!macro RegisterType suffix progid description icon media_type
  WriteRegStr HKCU "${CLASSES}\${progid}" "" "${description}"
  WriteRegStr HKCU "${CLASSES}\${progid}" "AppUserModelID" "${APPLICATION_ID}"
  WriteRegStr HKCU "${CLASSES}\${progid}\DefaultIcon" "" "$INSTDIR\icons\${icon}"
  WriteRegStr HKCU "${CLASSES}\${progid}\shell\open\command" "" '"$INSTDIR\gpudesk-gui.exe" "%1"'
  WriteRegStr HKCU "${CLASSES}\${suffix}\OpenWithProgids" "${progid}" ""
  ReadRegStr $R9 HKCU "${CLASSES}\${suffix}" ""
  ${If} $R9 == ""
    ReadRegStr $R9 HKLM "${CLASSES}\${suffix}" ""
  ${EndIf}
  ${If} $R9 == ""
    WriteRegStr HKCU "${CLASSES}\${suffix}" "" "${progid}"
    WriteRegStr HKCU "${CLASSES}\${suffix}" "Content Type" "${media_type}"
  ${EndIf}
!macroend

!macro UnregisterType suffix progid
  DeleteRegKey HKCU "${CLASSES}\${progid}"
  DeleteRegValue HKCU "${CLASSES}\${suffix}\OpenWithProgids" "${progid}"
  DeleteRegKey /ifempty HKCU "${CLASSES}\${suffix}\OpenWithProgids"
  ReadRegStr $R9 HKCU "${CLASSES}\${suffix}" ""
  ${If} $R9 == "${progid}"
    DeleteRegValue HKCU "${CLASSES}\${suffix}" ""
    DeleteRegValue HKCU "${CLASSES}\${suffix}" "Content Type"
  ${EndIf}
  DeleteRegKey /ifempty HKCU "${CLASSES}\${suffix}"
!macroend

!macro UnregisterTypes
  !insertmacro UnregisterType ".gpudesk" "GPUDesk.Scenario"
  !insertmacro UnregisterType ".gpudeskpack" "GPUDesk.Pack"
  DeleteRegKey HKCU "${CLASSES}\Applications\gpudesk-gui.exe"
!macroend

; Gives a shortcut the name under which Windows gathers the program's windows, as the program itself does.
!macro NameShortcut file
  !insertmacro ComHlpr_CreateInProcInstance ${CLSID_ShellLink} ${IID_IShellLink} r0 ""
  ${If} $0 P<> 0
    ${IUnknown::QueryInterface} $0 '("${IID_IPersistFile}",.r1)'
    ${If} $1 P<> 0
      ${IPersistFile::Load} $1 '("${file}", ${STGM_READWRITE})'
      ${IUnknown::QueryInterface} $0 '("${IID_IPropertyStore}",.r2)'
      ${If} $2 P<> 0
        System::Call '*(&w64 "${APPLICATION_ID}")p.r5'
        System::Call '*${SYSSTRUCT_PROPERTYKEY}(${PKEY_AppUserModel_ID})p.r3'
        ; PROPVARIANT: the type, what is reserved, the text, and what other types need.
        System::Call '*(&i2 ${VT_LPWSTR},&i6 0,p r5,p 0)p.r4'
        ${IPropertyStore::SetValue} $2 '(r3,r4)'
        ${IPropertyStore::Commit} $2 ""
        System::Free $3
        System::Free $4
        System::Free $5
        !insertmacro ComHlpr_SafeRelease $2
        ${IPersistFile::Save} $1 '("${file}", 1)'
      ${EndIf}
      !insertmacro ComHlpr_SafeRelease $1
    ${EndIf}
    !insertmacro ComHlpr_SafeRelease $0
  ${EndIf}
!macroend

; Installing

Var Previous        ; folder of the version that is installed already, else empty
Var PreviousVersion ; what it calls itself

Section "${NAME}" Program
  SectionIn RO
  SetShellVarContext current
  Call RemovePrevious
  ClearErrors
  !include "${PARTS}/install.nsh"
  SetOutPath "$INSTDIR\icons"
  File "${ICONS}/gpudesk.ico"
  File "${ICONS}/gpudesk-scenario.ico"
  File "${ICONS}/gpudesk-pack.ico"
  SetOutPath "$INSTDIR"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  ${If} ${Errors}
    MessageBox MB_OK|MB_ICONSTOP "Not all files could be written to $\r$\n$INSTDIR$\r$\n$\r$\n\
      Make room there or choose another folder, and run this installer again. What you entered in ${NAME} is kept." /SD IDOK
    SetErrorLevel 2
    Quit
  ${EndIf}
  WriteRegStr HKCU "${PATHS_KEY}\gpudesk.exe" "" "$INSTDIR\gpudesk.exe"
  WriteRegStr HKCU "${PATHS_KEY}\gpudesk-gui.exe" "" "$INSTDIR\gpudesk-gui.exe"
  CreateShortCut "$SMPROGRAMS\GPU Desk.lnk" "$INSTDIR\gpudesk-gui.exe" "" "$INSTDIR\icons\gpudesk.ico" 0 \
    SW_SHOWNORMAL "" "Compare AI accelerators for LLM inference"
  !insertmacro NameShortcut "$SMPROGRAMS\GPU Desk.lnk"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Numbers" "${NUMBERS}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\icons\gpudesk.ico"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "GPU Desk maintainers"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
SectionEnd

Section "Open scenarios and packs with ${NAME}" Types
  !insertmacro RegisterType ".gpudesk" "GPUDesk.Scenario" "GPU Desk scenario" "gpudesk-scenario.ico" \
    "application/vnd.gpudesk.scenario+json"
  !insertmacro RegisterType ".gpudeskpack" "GPUDesk.Pack" "GPU Desk catalog pack" "gpudesk-pack.ico" \
    "application/vnd.gpudesk.pack"
  WriteRegStr HKCU "${CLASSES}\Applications\gpudesk-gui.exe" "FriendlyAppName" "${NAME}"
  WriteRegStr HKCU "${CLASSES}\Applications\gpudesk-gui.exe\shell\open\command" "" '"$INSTDIR\gpudesk-gui.exe" "%1"'
  WriteRegStr HKCU "${CLASSES}\Applications\gpudesk-gui.exe\SupportedTypes" ".gpudesk" ""
  WriteRegStr HKCU "${CLASSES}\Applications\gpudesk-gui.exe\SupportedTypes" ".gpudeskpack" ""
  WriteRegStr HKCU "${CLASSES}\Applications\gpudesk-gui.exe\SupportedTypes" ".pdf" ""
SectionEnd

Section "Command prompt for gpudesk in the Start menu" Prompt
  ; A path of its own, for this prompt alone: the user's PATH, which may be longer than any installer reads, is
  ; left as it is.
  SetOutPath "$PROFILE"
  CreateShortCut "$SMPROGRAMS\GPU Desk command prompt.lnk" "$SYSDIR\cmd.exe" \
    '/k "set PATH=$INSTDIR;%PATH%&& gpudesk --help"' "$INSTDIR\icons\gpudesk.ico" 0 \
    SW_SHOWNORMAL "" "Estimates, comparisons and sheets without a window"
  SetOutPath "$INSTDIR"
SectionEnd

Section /o "Shortcut on the desktop" Desktop
  CreateShortCut "$DESKTOP\GPU Desk.lnk" "$INSTDIR\gpudesk-gui.exe" "" "$INSTDIR\icons\gpudesk.ico" 0
  !insertmacro NameShortcut "$DESKTOP\GPU Desk.lnk"
SectionEnd

; What was chosen is remembered for the next version, and what is not wanted any more goes.
!macro Remember section name
  ${If} ${SectionIsSelected} ${section}
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "${name}" 1
  ${Else}
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "${name}" 0
  ${EndIf}
!macroend

Section "-Choices"
  !insertmacro Remember ${Types} "Types"
  !insertmacro Remember ${Prompt} "Prompt"
  !insertmacro Remember ${Desktop} "Desktop"
  ${IfNot} ${SectionIsSelected} ${Types}
    !insertmacro UnregisterTypes
  ${EndIf}
  ${IfNot} ${SectionIsSelected} ${Prompt}
    Delete "$SMPROGRAMS\GPU Desk command prompt.lnk"
  ${EndIf}
  ${IfNot} ${SectionIsSelected} ${Desktop}
    Delete "$DESKTOP\GPU Desk.lnk"
  ${EndIf}
  !insertmacro TellShell
SectionEnd

!insertmacro MUI_FUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${Program} "The program, its catalog and an entry in the Start menu."
  !insertmacro MUI_DESCRIPTION_TEXT ${Types} "A double click on a .gpudesk or .gpudeskpack file opens it. \
    Where another program opens such files already, it goes on to."
  !insertmacro MUI_DESCRIPTION_TEXT ${Prompt} "A terminal that knows the command gpudesk."
  !insertmacro MUI_DESCRIPTION_TEXT ${Desktop} "An icon on the desktop."
!insertmacro MUI_FUNCTION_DESCRIPTION_END

!macro Recall section name
  ClearErrors
  ReadRegDWORD $0 HKCU "${UNINSTALL_KEY}" "${name}"
  ${IfNot} ${Errors}
    ${If} $0 = 1
      !insertmacro SelectSection ${section}
    ${Else}
      !insertmacro UnselectSection ${section}
    ${EndIf}
  ${EndIf}
!macroend

Function .onInit
  SetShellVarContext current
  Call CheckWindows
  ReadRegStr $Previous HKCU "${UNINSTALL_KEY}" "InstallLocation"
  ReadRegStr $PreviousVersion HKCU "${UNINSTALL_KEY}" "DisplayVersion"
  !insertmacro Recall ${Types} "Types"
  !insertmacro Recall ${Prompt} "Prompt"
  !insertmacro Recall ${Desktop} "Desktop"
  Call CheckVersion
FunctionEnd

Function CheckWindows
  StrCpy $0 ""
  ${If} ${IsNativeAMD64}
  ${AndIf} ${AtLeastBuild} ${OLDEST_BUILD}
    Return
  ${EndIf}
  ${If} ${IsNativeARM64}
  ${AndIf} ${AtLeastBuild} ${OLDEST_ARM_BUILD}
    Return
  ${EndIf}
  MessageBox MB_OK|MB_ICONSTOP "${NAME} needs Windows 10, version 1809 or newer, on a 64-bit PC (x86-64), \
    or Windows 11 on ARM. Nothing was installed." /SD IDOK
  SetErrorLevel ${TOO_OLD}
  Quit
FunctionEnd

Function CheckVersion
  ReadRegStr $0 HKCU "${UNINSTALL_KEY}" "Numbers"
  ${If} $0 == ""
    Return
  ${EndIf}
  ${VersionCompare} "$0" "${NUMBERS}" $1
  ${If} $1 <> 1
    Return
  ${EndIf}
  ${GetParameters} $2
  ClearErrors
  ${GetOptions} $2 "/DOWNGRADE" $3
  ${IfNot} ${Errors}
    Return
  ${EndIf}
  MessageBox MB_YESNO|MB_ICONEXCLAMATION|MB_DEFBUTTON2 "A newer version, $PreviousVersion, is installed. \
    Version ${VERSION} may not read what it has kept; both leave it in place.$\r$\n$\r$\nGo back to ${VERSION}?" \
    /SD IDNO IDYES +3
  SetErrorLevel ${IS_NEWER}
  Quit
FunctionEnd

; Takes the files of the version before away, by its own list, so that none of them gets into this one.
Function RemovePrevious
  ${If} $Previous == ""
    StrCpy $Previous $INSTDIR
  ${EndIf}
  !insertmacro StopWhileOpen "$Previous"
  ${If} ${FileExists} "$Previous\uninstall.exe"
    ExecWait '"$Previous\uninstall.exe" /S /UPGRADE _?=$Previous' $0
    ${If} $0 <> 0
      MessageBox MB_OK|MB_ICONSTOP "The files of version $PreviousVersion could not all be removed from $\r$\n$Previous$\r$\n$\r$\n\
        Close all windows of ${NAME} and run this installer again. What you entered in ${NAME} is kept." /SD IDOK
      SetErrorLevel 2
      Quit
    ${EndIf}
    ${If} $Previous != $INSTDIR
      Delete "$Previous\uninstall.exe"
      RMDir "$Previous"
    ${EndIf}
  ${EndIf}
FunctionEnd

; Removing

Section "un.${NAME}" un.Program
  SectionIn RO
  ClearErrors
  !include "${PARTS}/remove.nsh"
  Delete "$INSTDIR\icons\gpudesk.ico"
  Delete "$INSTDIR\icons\gpudesk-scenario.ico"
  Delete "$INSTDIR\icons\gpudesk-pack.ico"
  ${If} ${Errors}
    SetErrorLevel 2
  ${EndIf}
  RMDir "$INSTDIR\icons"
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/UPGRADE" $1
  ${If} ${Errors}
    Delete "$SMPROGRAMS\GPU Desk.lnk"
    Delete "$SMPROGRAMS\GPU Desk command prompt.lnk"
    Delete "$DESKTOP\GPU Desk.lnk"
    !insertmacro UnregisterTypes
    DeleteRegKey HKCU "${PATHS_KEY}\gpudesk.exe"
    DeleteRegKey HKCU "${PATHS_KEY}\gpudesk-gui.exe"
    DeleteRegKey HKCU "${UNINSTALL_KEY}"
    Delete "$INSTDIR\uninstall.exe"
    ; Each only where nothing else lies in it.
    RMDir "$INSTDIR"
    !insertmacro TellShell
  ${EndIf}
SectionEnd

Section /o "un.What I entered: own facts, settings, recovered scenarios" un.Data
  RMDir /r "$APPDATA\GPU Desk"
SectionEnd

!insertmacro MUI_UNFUNCTION_DESCRIPTION_BEGIN
  !insertmacro MUI_DESCRIPTION_TEXT ${un.Program} "The program and its entries in the Start menu."
  !insertmacro MUI_DESCRIPTION_TEXT ${un.Data} "The folder $APPDATA\GPU Desk. Saved scenarios and sheets \
    lie where you saved them and stay there."
!insertmacro MUI_UNFUNCTION_DESCRIPTION_END

Function un.onInit
  SetShellVarContext current
  !insertmacro StopWhileOpen "$INSTDIR"
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/REMOVEDATA" $1
  ${IfNot} ${Errors}
    !insertmacro SelectSection ${un.Data}
  ${EndIf}
FunctionEnd
