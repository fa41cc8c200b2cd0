/**
 * \file checker.h
 * Checks the arguments of a call. The input is DLTensors and a table of parameters, the output a
 * status and a message. C11 and C++17.
 *
 * The functions allocate no memory, keep no state and are independent of hosts; any thread may call
 * them.
 */
#ifndef DLPACKGEN_CHECKER_H_
#define DLPACKGEN_CHECKER_H_

#include <dlpackgen/arguments.h>
#include <dlpackgen/check.h>
#include <dlpackgen/described.h>

#endif /* DLPACKGEN_CHECKER_H_ */
