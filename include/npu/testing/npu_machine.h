/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated machine for tests of drivers in C (npu/testing/machine.hpp says all of it in full).
 * From create to destroy the caller is a task of the machine: what it calls takes simulated time.
 * One machine per process. Link npusim::npusim; no C++ is needed.
 */
#ifndef NPU_TESTING_NPU_MACHINE_H
#define NPU_TESTING_NPU_MACHINE_H

#include "npu/testing/npu_platform.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NPU_MACHINE_API __attribute__((visibility("default")))

typedef struct npu_machine npu_machine;

/* `config`: a chip or system by name ("910b2") or path; `overrides`: "key=value". Null: it is not
 * possible, `error` has the line (cut to `size` with its final 0). A test that waits for what
 * cannot happen any more is ended with exit code 1 and a line that says who waits for what. */
NPU_MACHINE_API npu_machine* npu_machine_create(const char* config, const char* const* overrides,
                                                size_t count, char* error, size_t size);
/* What the driver has of the platform is given back before. Null: nothing. */
NPU_MACHINE_API void npu_machine_destroy(npu_machine*);
NPU_MACHINE_API npu_platform* npu_machine_platform(npu_machine*);
NPU_MACHINE_API unsigned npu_machine_cards(const npu_machine*);
/* NPU_OUT_OF_RANGE. */
NPU_MACHINE_API int npu_machine_card(npu_machine*, unsigned index, uint16_t* bdf);
/* Of the last call here that did not return NPU_OK: one line. */
NPU_MACHINE_API const char* npu_machine_error(const npu_machine*);

/* Exact; costs nothing of its own. A time that has passed is no error. */
NPU_MACHINE_API int64_t npu_machine_now(const npu_machine*);
NPU_MACHINE_API void npu_machine_run_until(npu_machine*, int64_t time);

/* --- What a call does. Counting takes no simulated time. */
enum npu_access_kind {
  NPU_MMIO_READ = 0,
  NPU_MMIO_WRITE,
  NPU_COMBINING_STORE,
  NPU_CONFIG_READ,
  NPU_CONFIG_WRITE,
  NPU_WRITE_BARRIER,
  NPU_READ_BARRIER,
  NPU_POLL,     /* as often as a loop looked */
  NPU_INTERRUPT /* that arrived */
};
typedef struct npu_accesses npu_accesses;

/* Runs call(user). Never null; give it to npu_accesses_free(). */
NPU_MACHINE_API npu_accesses* npu_machine_accesses(npu_machine*, void (*call)(void* user),
                                                   void* user);
/* `name`: a register ("DMA_DOORBELL", "EVENT[3]"), or null: whatever it was. */
NPU_MACHINE_API uint64_t npu_accesses_count(const npu_accesses*, enum npu_access_kind,
                                            const char* name);
NPU_MACHINE_API int64_t npu_accesses_elapsed(const npu_accesses*);
/* One line per access, the first 40; for people. */
NPU_MACHINE_API const char* npu_accesses_text(const npu_accesses*);
NPU_MACHINE_API void npu_accesses_free(npu_accesses*);

/* --- What goes wrong (npu/testing/fault.hpp). */
enum npu_fault_kind {
  NPU_LINK_DOWN = 0, /* for good: the card was pulled out */
  NPU_FUNCTION_LEVEL_RESET,
  NPU_BUS_MASTER_OFF,
  NPU_MEMORY_DECODE_OFF,
  NPU_POWER_DOWN,
  NPU_POISONED_COMPLETION,
  NPU_LOST_COMPLETION,
  NPU_PEER_LINK_DOWN,
  NPU_LOST_INTERRUPT,
  NPU_DUPLICATED_INTERRUPT,
  NPU_DELAYED_INTERRUPT,
  NPU_SPURIOUS_INTERRUPT, /* needs a vector */
  NPU_MASKED_VECTOR       /* needs a vector */
};
#define NPU_FOR_GOOD INT64_MAX
#define NPU_ANY UINT32_MAX

typedef struct npu_fault {
  enum npu_fault_kind kind;
  int64_t duration; /* ps; a delay; NPU_FOR_GOOD */
  unsigned of_host; /* of completions: 0 of the card's reads, 1 of the host's */
  unsigned card;
  unsigned peer;             /* NPU_PEER_LINK_DOWN */
  unsigned vector;           /* of interrupts; NPU_ANY */
  unsigned virtual_function; /* NPU_ANY: the physical one */
} npu_fault;
/* For good, of the card's reads, of card 0, of any vector, of the physical function. */
#define NPU_FAULT(kind_) \
  { kind_, NPU_FOR_GOOD, 0, 0, 0, NPU_ANY, NPU_ANY }

enum npu_when_kind { NPU_AT_ONCE = 0, NPU_AT, NPU_AFTER, NPU_AT_ACCESS };
typedef struct npu_when {
  enum npu_when_kind kind;
  int64_t time; /* NPU_AT, NPU_AFTER; ps */
  uint64_t nth; /* NPU_AT_ACCESS: 1 is the next */
  enum npu_access_kind access;
  const char* name; /* of the register; null: any */
} npu_when;

/* `when` null: at once. NPU_INVALID_ARGUMENT: no such card, vector, link or name, a time that has
 * passed. */
NPU_MACHINE_API int npu_machine_inject(npu_machine*, const npu_fault* fault, const npu_when* when);
/* Not yet begun; of interrupts: that no message has met. */
NPU_MACHINE_API size_t npu_machine_pending_faults(const npu_machine*);

/* --- What the run has found out. */
/* value * 10^-decimals. NPU_INVALID_ARGUMENT, NPU_ALREADY_EXISTS. */
NPU_MACHINE_API int npu_machine_metric(npu_machine*, const char* name, int64_t value,
                                       unsigned decimals, const char* unit);
/* What was never freed, "3 host buffers (4KiB, 4KiB, 64KiB) never freed"; "": nothing. Valid until
 * the next call. */
NPU_MACHINE_API const char* npu_machine_leaks(npu_machine*);
/* The report of `npusim run --report`, for `npusim compare`; `name` of the test; `outcome` null:
 * "complete". NPU_IO: the file cannot be written. */
NPU_MACHINE_API int npu_machine_write_report(npu_machine*, const char* name, const char* outcome,
                                             const char* path);

#ifdef __cplusplus
}
#endif

#endif
