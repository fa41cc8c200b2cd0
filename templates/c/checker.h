/**
 * \file checker.h
 * Checks the arguments of a call: DLTensors and a parameter table in, a status and a
 * sentence out. C11 and C++17.
 *
 * Nothing here allocates, keeps state or knows a host; any thread may call it.
 */
#ifndef DLPACKGEN_CHECKER_H_
#define DLPACKGEN_CHECKER_H_

#include <dlpackgen/arguments.h>
#include <dlpackgen/check.h>
#include <dlpackgen/described.h>

#endif /* DLPACKGEN_CHECKER_H_ */
