/* The only function of bcryptprimitives.dll that Go programs need at their start. Wine before 9.0
 * lacks that DLL, and Debian 12 has 8.0. */
#include <ntsecapi.h>
#include <windows.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, (ULONG)size); }
