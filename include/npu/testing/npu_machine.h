/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated machine for tests of drivers in C; npu/testing/machine.hpp has the details. From
 * create to destroy the caller is a task of the machine, and driver calls take simulated time. A
 * process can have one machine. Link npusim::npusim; no C++ is needed.
 */
#ifndef NPU_TESTING_NPU_MACHINE_H
#define NPU_TESTING_NPU_MACHINE_H

#include "npu/testing/npu_platform.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NPU_MACHINE_API __attribute__((visibility("default")))

typedef struct npu_machine npu_machine;

/* `config`: a chip or system by name ("910b2") or path; `overrides`: "key=value". Returns null
 * after an error, with its line in `error` (cut to `size` with the final 0). If the test waits for
 * events that can no longer happen, it ends with a line that names them and exit code 1. */
NPU_MACHINE_API npu_machine* npu_machine_create(const char* config, const char* const* overrides,
                                                size_t count, char* error, size_t size);
/* The driver must have freed its objects of the platform. Null: does nothing. */
NPU_MACHINE_API void npu_machine_destroy(npu_machine*);
NPU_MACHINE_API npu_platform* npu_machine_platform(npu_machine*);
NPU_MACHINE_API unsigned npu_machine_cards(const npu_machine*);
/* The BDF of a card.
   NPU_OUT_OF_RANGE: no such card.
   NPU_UNSUPPORTED: the card is not in PCI segment 0 (its host bridge has a first_bus of 0x100 or
   more). */
NPU_MACHINE_API int npu_machine_card(npu_machine*, unsigned index, uint16_t* bdf);
/* One line of text of the last error of these functions. */
NPU_MACHINE_API const char* npu_machine_error(const npu_machine*);

/* Simulated time, without any cost. A past `time` changes nothing. */
NPU_MACHINE_API int64_t npu_machine_now(const npu_machine*);
NPU_MACHINE_API void npu_machine_run_until(npu_machine*, int64_t time);

/* --- Accesses of a call. Counting takes no simulated time. */
enum npu_access_kind {
  NPU_MMIO_READ = 0,
  NPU_MMIO_WRITE,
  NPU_COMBINING_STORE,
  NPU_CONFIG_READ,
  NPU_CONFIG_WRITE,
  NPU_WRITE_BARRIER,
  NPU_READ_BARRIER,
  NPU_POLL,     /* rounds of a poll loop */
  NPU_INTERRUPT /* arrived at the host */
};
typedef struct npu_accesses npu_accesses;

/* Runs call(user). Never returns null. Free the result with npu_accesses_free(). */
NPU_MACHINE_API npu_accesses* npu_machine_accesses(npu_machine*, void (*call)(void* user),
                                                   void* user);
/* `name`: a register ("DMA_DOORBELL", "EVENT[3]"); null: any. */
NPU_MACHINE_API uint64_t npu_accesses_count(const npu_accesses*, enum npu_access_kind,
                                            const char* name);
NPU_MACHINE_API int64_t npu_accesses_elapsed(const npu_accesses*);
/* Text with a line for each access, at most 40. */
NPU_MACHINE_API const char* npu_accesses_text(const npu_accesses*);
NPU_MACHINE_API void npu_accesses_free(npu_accesses*);

/* --- Faults (npu/testing/fault.hpp). */
enum npu_fault_kind {
  NPU_LINK_DOWN = 0, /* permanent: the card was removed */
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
  NPU_MASKED_VECTOR,      /* NPU_ANY: all of the function's */
  NPU_MEMORY_ERROR,       /* address, bits */
  NPU_LINK_RETRAINED,     /* generation, lanes */
  NPU_BAD_TLP,
  NPU_STUCK_ENGINE,       /* unit */
  NPU_HUNG_CORE,          /* unit */
  NPU_REFUSED_COMPLETION, /* detail: 0: unsupported request, 1: completer abort */
  NPU_DROPPED_TLP,        /* detail: 0: ECRC, 1: malformed, 2: receiver overflow */
  NPU_IOMMU_FAULT,
  NPU_THERMAL_THROTTLING, /* detail: percent of the clock */
  NPU_SLOW_CHANNEL,       /* unit; detail: times as many refreshes */
  NPU_POISONED_WRITE,
  NPU_UNEXPECTED_COMPLETION,
  NPU_LINK_ERROR,            /* detail: 0: receiver, 1: DLLP, 2: rollover, 3: timeout */
  NPU_MISDIRECTED_INTERRUPT, /* detail: the vector that it arrives at */
  NPU_LOST_COMMAND,          /* unit */
  NPU_HUNG_AICPU,            /* unit */
  NPU_HUNG_CONTROL_PROCESSOR
};
#define NPU_FOR_GOOD INT64_MAX
#define NPU_ANY UINT32_MAX

typedef struct npu_fault {
  enum npu_fault_kind kind;
  int64_t duration; /* or delay, in ps; NPU_FOR_GOOD: permanent */
  unsigned of_host; /* of completions: 0: the card's reads, 1: the host's; of TLPs: to it */
  unsigned card;
  unsigned peer;             /* NPU_PEER_LINK_DOWN */
  unsigned vector;           /* of interrupts; NPU_ANY */
  unsigned virtual_function; /* NPU_ANY: the physical one */
  uint64_t address;          /* NPU_MEMORY_ERROR: device-local */
  unsigned bits;             /* NPU_MEMORY_ERROR: 1 or 2 */
  unsigned generation;       /* NPU_LINK_RETRAINED; 0: as configured */
  unsigned lanes;            /* NPU_LINK_RETRAINED; 0: as configured */
  unsigned unit;             /* engine, AI Core, AICPU or HBM channel */
  unsigned detail;           /* as the kind says */
} npu_fault;
/* Permanent, for reads of the card, on card 0, of any vector, of the physical function. */
#define NPU_FAULT(kind_) \
  { kind_, NPU_FOR_GOOD, 0, 0, 0, NPU_ANY, NPU_ANY, 0, 1, 0, 0, 0, 0 }

enum npu_when_kind { NPU_AT_ONCE = 0, NPU_AT, NPU_AFTER, NPU_AT_ACCESS };
typedef struct npu_when {
  enum npu_when_kind kind;
  int64_t time; /* NPU_AT, NPU_AFTER; ps */
  uint64_t nth; /* NPU_AT_ACCESS; 1: the next */
  enum npu_access_kind access;
  const char* name; /* of the register; null: any */
} npu_when;

/* `when` null: at once.
 * NPU_INVALID_ARGUMENT: no such card, vector, link or name, or a past time. */
NPU_MACHINE_API int npu_machine_inject(npu_machine*, const npu_fault* fault, const npu_when* when);
/* Number of faults that have not begun, or whose interrupt has not come. */
NPU_MACHINE_API size_t npu_machine_pending_faults(const npu_machine*);

/* --- Races (npu/testing/races.hpp). */
/* Looks for them from now on. Call it before the driver has memory. */
NPU_MACHINE_API void npu_machine_watch_races(npu_machine*);
/* The caller is about to load (`write` 0) or store bytes of DMA memory. */
NPU_MACHINE_API void npu_machine_host_accesses(npu_machine*, const void* bytes, size_t size,
                                               int write);
/* The caller has looked at what the card writes of its work, without a call of the platform. */
NPU_MACHINE_API void npu_machine_host_looks(npu_machine*);
/* One line for each race that was found; "": none. Valid until the next call. */
NPU_MACHINE_API const char* npu_machine_races(npu_machine*);

/* --- Results of the run. */
/* Adds a figure: value * 10^-decimals.
 * NPU_INVALID_ARGUMENT: name, decimals or unit are not possible.
 * NPU_ALREADY_EXISTS: the name is in use. */
NPU_MACHINE_API int npu_machine_metric(npu_machine*, const char* name, int64_t value,
                                       unsigned decimals, const char* unit);
/* Objects that were not freed: "3 host buffers (4KiB, 4KiB, 64KiB) never freed"; "": none. Valid
 * until the next call. */
NPU_MACHINE_API const char* npu_machine_leaks(npu_machine*);
/* Writes the report as of `npusim run --report`, for `npusim compare`. `name`: of the test.
 * `outcome` null: "complete".
 * NPU_IO: the file cannot be written. */
NPU_MACHINE_API int npu_machine_write_report(npu_machine*, const char* name, const char* outcome,
                                             const char* path);

#ifdef __cplusplus
}
#endif

#endif
