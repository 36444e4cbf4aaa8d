# Tries an installer on a real Windows: installs it, looks at what Windows knows of it, uses the program, installs
# over it, removes it, and looks for what is left. For the workflow; changes the account that it runs in.
#   installed_test.ps1 SETUP.exe
param([Parameter(Mandatory)][string]$Setup)
$ErrorActionPreference = "Stop"
Set-StrictMode -Version Latest

$place = Join-Path $env:LOCALAPPDATA "Programs\GPU Desk"
$data = Join-Path $env:APPDATA "GPU Desk"
$menu = Join-Path $env:APPDATA "Microsoft\Windows\Start Menu\Programs"
$uninstallKey = "HKCU:\Software\Microsoft\Windows\CurrentVersion\Uninstall\GPU Desk"

function Test-That([string]$What, [bool]$Holds) {
    if (-not $Holds) { throw "does not hold: $What" }
    Write-Output "ok    $What"
}
function Invoke-Program([string]$Program, [string[]]$Arguments) {
    $process = Start-Process $Program -ArgumentList $Arguments -PassThru
    $null = $process.Handle # else the exit code is not kept
    if (-not $process.WaitForExit(300000)) { $process.Kill(); throw "$Program did not end" }
    return $process.ExitCode
}

Test-That "the installer ends with 0" ((Invoke-Program $Setup @("/S")) -eq 0)
$entry = Get-ItemProperty $uninstallKey
$version = (Get-Content "$place\_internal\gpudesk\_bundled\build.json" | ConvertFrom-Json).version
Test-That "the entry among the programs has the version" ($entry.DisplayVersion -eq $version)
$shown = (Get-Item "$place\gpudesk-gui.exe").VersionInfo
Test-That "the executable has the version" ($shown.ProductVersion -eq $version -and $shown.ProductName -eq "GPU Desk")
$link = (New-Object -ComObject Shell.Application).Namespace($menu).ParseName("GPU Desk.lnk")
Test-That "the shortcut has the program's name" ($link.ExtendedProperty("System.AppUserModel.ID") -eq "io.github.gpudesk.GPUDesk")
$type = (Get-ItemProperty "HKCU:\Software\Classes\.gpudesk")."(default)"
Test-That "scenarios belong to it" ($type -eq "GPUDesk.Scenario")

& "$place\gpudesk.exe" --self-test
Test-That "the installed program finds itself whole" ($LASTEXITCODE -eq 0)
$sheet = Join-Path $env:TEMP "Vergleich für Kunden.pdf"
& "$place\gpudesk.exe" sheet --template 70b-chat-on-four -o $sheet
Test-That "it writes a sheet" ($LASTEXITCODE -eq 0 -and (Get-Item $sheet).Length -gt 10000)
$env:GPUDESK_TIMING = "1"
# Ends by itself once every page was painted.
Test-That "its window opens and ends" ((Invoke-Program "$place\gpudesk-gui.exe" @("`"$sheet`"")) -eq 0)
$env:GPUDESK_TIMING = ""
Test-That "it keeps what is the user's" (Test-Path $data)

Test-That "the installer goes over it" ((Invoke-Program $Setup @("/S")) -eq 0)
Test-That "what is the user's is kept" (Test-Path $data)
Test-That "the uninstaller ends with 0" ((Invoke-Program "$place\uninstall.exe" @("/S")) -eq 0)
foreach ($second in 1..60) { if (Test-Path $place) { Start-Sleep 1 } }
Test-That "no file of the program is left" (-not (Test-Path $place))
Test-That "no entry among the programs is left" (-not (Test-Path $uninstallKey))
Test-That "no shortcut is left" (-not (Test-Path "$menu\GPU Desk.lnk"))
Test-That "what is the user's is kept" (Test-Path $data)
