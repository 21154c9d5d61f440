; Per-user installer over the plain folder that build_windows.py makes. It gives, on its command line:
;   /DAppVersion=N  /DBundle=folder of the bundle  /DOutput=where the installer goes
; Quiet: slipstream-…-setup.exe /VERYSILENT /SUPPRESSMSGBOXES (/MERGETASKS=associate for .gguf files).
; Chats, settings, models and partial downloads are never inside {app}, and nothing here touches them but the question
; that is asked while uninstalling; a quiet uninstall keeps them.

#ifndef AppVersion
  #error AppVersion is not given
#endif
#ifndef Bundle
  #error Bundle is not given
#endif
#ifndef Output
  #define Output "."
#endif

[Setup]
AppId={{8B1B8A5E-6C0B-4E0F-9C0A-5D6C2E8F7A41}
AppName=Slipstream
AppVersion={#AppVersion}
AppVerName=Slipstream {#AppVersion}
AppPublisher=The Slipstream authors
DefaultDirName={autopf}\Slipstream
DefaultGroupName=Slipstream
DisableProgramGroupPage=yes
DisableDirPage=auto
LicenseFile={#Bundle}\LICENSE.txt
PrivilegesRequired=lowest
ArchitecturesAllowed=arm64
ArchitecturesInstallIn64BitMode=arm64
MinVersion=10.0.22000
OutputDir={#Output}
OutputBaseFilename=slipstream-{#AppVersion}-windows-arm64-setup
SetupIconFile={#Bundle}\slipstream.ico
UninstallDisplayIcon={app}\slipstream.exe
WizardStyle=modern
Compression=lzma2/max
SolidCompression=yes
ChangesAssociations=yes
CloseApplications=yes
RestartApplications=no

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"
Name: "german"; MessagesFile: "compiler:Languages\German.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; GroupDescription: "{cm:AdditionalIcons}"; Flags: unchecked
Name: "associate"; Description: "{cm:AssocFileExtension,Slipstream,.gguf}"; Flags: unchecked

[InstallDelete]
; The version before: its modules must not mix with ours. Only folders that a bundle fills, never a person's.
Type: filesandordirs; Name: "{app}\python"
Type: filesandordirs; Name: "{app}\site-packages"
Type: filesandordirs; Name: "{app}\licences"
Type: filesandordirs; Name: "{app}\runtimes"

[Files]
Source: "{#Bundle}\*"; DestDir: "{app}"; Flags: recursesubdirs createallsubdirs ignoreversion

[Icons]
Name: "{autoprograms}\Slipstream"; Filename: "{app}\slipstream.exe"; AppUserModelID: "Slipstream.Slipstream"
Name: "{autodesktop}\Slipstream"; Filename: "{app}\slipstream.exe"; AppUserModelID: "Slipstream.Slipstream"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Classes\.gguf\OpenWithProgids"; ValueType: string; ValueName: "Slipstream.gguf"; ValueData: ""; Flags: uninsdeletevalue; Tasks: associate
Root: HKA; Subkey: "Software\Classes\Slipstream.gguf"; ValueType: string; ValueData: "GGUF model"; Flags: uninsdeletekey; Tasks: associate
Root: HKA; Subkey: "Software\Classes\Slipstream.gguf\DefaultIcon"; ValueType: string; ValueData: "{app}\slipstream.exe,0"; Tasks: associate
Root: HKA; Subkey: "Software\Classes\Slipstream.gguf\shell\open\command"; ValueType: string; ValueData: """{app}\slipstream.exe"" ""%1"""; Tasks: associate

[Run]
Filename: "{app}\slipstream.exe"; Description: "{cm:LaunchProgram,Slipstream}"; Flags: nowait postinstall skipifsilent

[Code]
procedure RemoveIfWanted(Folder, Question: String);
begin
  if DirExists(Folder) then
    if SuppressibleMsgBox(Question, mbConfirmation, MB_YESNO or MB_DEFBUTTON2, IDNO) = IDYES then
      DelTree(Folder, True, True, True);
end;

procedure CurUninstallStepChanged(CurUninstallStep: TUninstallStep);
var
  Data: String;
begin
  if CurUninstallStep <> usPostUninstall then
    Exit;
  Data := ExpandConstant('{localappdata}\Slipstream');
  RemoveIfWanted(Data + '\models',
    'Delete the models that Slipstream has downloaded, with partial downloads? They are in' + #13#10 + Data + '\models');
  RemoveIfWanted(Data,
    'Delete your conversations, settings and measurements too? They cannot be brought back.' + #13#10 + Data);
end;
