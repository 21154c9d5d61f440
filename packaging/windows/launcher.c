/* Starts Slipstream with the Python beside it. Compiled twice: slipstream.exe has no console and does not wait;
   slipstream-cli.exe (with -DCONSOLE) is for commands: it waits, and ends with the command's exit code.

   The folder may be called anything, and so may the arguments: the command line behind our own name is handed on as it
   is. Nothing is looked for on the path. */

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <stdio.h>
#include <wchar.h>

#define LONGEST 32768 /* what CreateProcess takes */

#ifdef CONSOLE
#define PYTHON L"python.exe"
#else
#define PYTHON L"pythonw.exe"
#endif

static int fail(const wchar_t *words)
{
#ifdef CONSOLE
    fwprintf(stderr, L"error: %ls\n", words);
#else
    MessageBoxW(NULL, words, L"Slipstream", MB_OK | MB_ICONERROR);
#endif
    return 1;
}

/* Return what stands behind the program's own name on a command line. */
static const wchar_t *arguments(const wchar_t *line)
{
    if (*line == L'"') {
        for (line++; *line && *line != L'"'; line++) {}
        if (*line) line++;
    } else {
        while (*line && *line != L' ' && *line != L'\t') line++;
    }
    while (*line == L' ' || *line == L'\t') line++;
    return line;
}

static int start(void)
{
    static wchar_t folder[LONGEST], python[LONGEST], line[LONGEST];
    DWORD length = GetModuleFileNameW(NULL, folder, LONGEST);
    wchar_t *end = length && length < LONGEST ? wcsrchr(folder, L'\\') : NULL;
    STARTUPINFOW startup;
    PROCESS_INFORMATION process;
    DWORD code = 0;

    if (!end) return fail(L"The program's own folder cannot be found.");
    *end = L'\0';
    if (_snwprintf(python, LONGEST, L"%ls\\python\\" PYTHON, folder) < 0) return fail(L"The folder's name is too long.");
    if (_snwprintf(line, LONGEST, L"\"%ls\" -m app %ls", python, arguments(GetCommandLineW())) < 0)
        return fail(L"The command is too long.");
    ZeroMemory(&startup, sizeof startup);
    startup.cb = sizeof startup;
    if (!CreateProcessW(python, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process))
        return fail(L"Slipstream is not complete: its Python cannot be started. Install it again; your chats and models stay.");
#ifdef CONSOLE
    SetConsoleCtrlHandler(NULL, TRUE); /* Ctrl+C is the command's business */
    WaitForSingleObject(process.hProcess, INFINITE);
    GetExitCodeProcess(process.hProcess, &code);
#else
    AllowSetForegroundWindow(process.dwProcessId); /* a second start brings the first window to the front */
#endif
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    return (int)code;
}

#ifdef CONSOLE
int wmain(void)
{
    return start();
}
#else
int WINAPI wWinMain(HINSTANCE instance, HINSTANCE previous, PWSTR words, int show)
{
    (void)instance, (void)previous, (void)words, (void)show;
    return start();
}
#endif
