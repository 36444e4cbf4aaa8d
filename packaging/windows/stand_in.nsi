; What stands for the program's executables in a staged tree: it notes how it was called, waits as long as it is
; told, and does nothing else. Compiled by stage_tree.py with OUT defined.
Unicode true
Name "GPU Desk stand-in"
OutFile "${OUT}"
RequestExecutionLevel user
SilentInstall silent
!include "FileFunc.nsh"
!include "LogicLib.nsh"
Section
  ${GetParameters} $0
  FileOpen $1 "$TEMP\gpudesk-stand-in.txt" w
  FileWriteUTF16LE /BOM $1 $0
  FileClose $1
  ${GetOptions} $0 "--wait=" $2
  ${IfNot} ${Errors}
    Sleep $2
  ${EndIf}
SectionEnd
