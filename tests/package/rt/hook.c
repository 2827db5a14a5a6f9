/* SPDX-License-Identifier: Apache-2.0 */
/* In front of libruntime, as sharing layers are that hook it and not the ACL: it counts calls,
   keeps memory to HOOK_QUOTA bytes and shows no more. What it has counted stands on the error
   output. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <runtime/rt.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
  unsigned malloc, physical, info, handle, flag, aicpu, model, copy, wait, record;
} counts;
static size_t used;

static size_t quota(void) {
  const char* const text = getenv("HOOK_QUOTA");
  return text == NULL ? (size_t)-1 : (size_t)strtoull(text, NULL, 10);
}

/* A program that has opened libascendcl by itself has libruntime out of the search order. */
static void* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) found = dlsym(dlopen("libruntime.so", RTLD_LAZY | RTLD_NOLOAD), name);
  if (found == NULL) abort();
  return found;
}
#define CALL(name, type, arguments) \
  do {                              \
    rtError_t(*real) type;          \
    *(void**)&real = next(#name);   \
    return real arguments;          \
  } while (0)

static int is_over(size_t size) {
  if (size > quota() || used > quota() - size) return 1;
  used += size;
  return 0;
}

rtError_t rtMalloc(void** address, uint64_t size, rtMemType_t type, const uint16_t module) {
  ++counts.malloc;
  if (is_over(size)) return ACL_ERROR_RT_MEMORY_ALLOCATION;
  CALL(rtMalloc, (void**, uint64_t, rtMemType_t, uint16_t), (address, size, type, module));
}

rtError_t rtMallocPhysical(rtDrvMemHandle* handle, size_t size, rtDrvMemProp_t* properties,
                           uint64_t flags) {
  ++counts.physical;
  if (is_over(size)) return ACL_ERROR_RT_MEMORY_ALLOCATION;
  CALL(rtMallocPhysical, (rtDrvMemHandle*, size_t, rtDrvMemProp_t*, uint64_t),
       (handle, size, properties, flags));
}

rtError_t rtMemGetInfoEx(rtMemInfoType_t type, size_t* free, size_t* total) {
  rtError_t (*real)(rtMemInfoType_t, size_t*, size_t*);
  ++counts.info;
  *(void**)&real = next("rtMemGetInfoEx");
  const rtError_t status = real(type, free, total);
  if (status == RT_ERROR_NONE && *total > quota()) {
    *total = quota();
    *free = quota() - used;
  }
  return status;
}

rtError_t rtKernelLaunchWithHandleV2(void* handle, const uint64_t key, uint32_t blocks,
                                     rtArgsEx_t* args, rtSmDesc_t* sm, rtStream_t stream,
                                     const rtTaskCfgInfo_t* config) {
  ++counts.handle;
  CALL(rtKernelLaunchWithHandleV2,
       (void*, uint64_t, uint32_t, rtArgsEx_t*, rtSmDesc_t*, rtStream_t, const rtTaskCfgInfo_t*),
       (handle, key, blocks, args, sm, stream, config));
}

rtError_t rtKernelLaunchWithFlagV2(const void* stub, uint32_t blocks, rtArgsEx_t* args,
                                   rtSmDesc_t* sm, rtStream_t stream, uint32_t flags,
                                   const rtTaskCfgInfo_t* config) {
  ++counts.flag;
  CALL(rtKernelLaunchWithFlagV2,
       (const void*, uint32_t, rtArgsEx_t*, rtSmDesc_t*, rtStream_t, uint32_t,
        const rtTaskCfgInfo_t*),
       (stub, blocks, args, sm, stream, flags, config));
}

rtError_t rtAicpuKernelLaunchExWithArgs(const uint32_t type, const char* const name,
                                        const uint32_t blocks, const rtAicpuArgsEx_t* args,
                                        rtSmDesc_t* const sm, const rtStream_t stream,
                                        const uint32_t flags) {
  ++counts.aicpu;
  CALL(rtAicpuKernelLaunchExWithArgs,
       (uint32_t, const char*, uint32_t, const rtAicpuArgsEx_t*, rtSmDesc_t*, rtStream_t, uint32_t),
       (type, name, blocks, args, sm, stream, flags));
}

rtError_t rtModelExecute(rtModel_t model, rtStream_t stream, uint32_t flag) {
  ++counts.model;
  CALL(rtModelExecute, (rtModel_t, rtStream_t, uint32_t), (model, stream, flag));
}

rtError_t rtMemcpy(void* to, uint64_t max, const void* from, uint64_t count, rtMemcpyKind_t kind) {
  ++counts.copy;
  CALL(rtMemcpy, (void*, uint64_t, const void*, uint64_t, rtMemcpyKind_t),
       (to, max, from, count, kind));
}

rtError_t rtStreamSynchronize(rtStream_t stream) {
  ++counts.wait;
  CALL(rtStreamSynchronize, (rtStream_t), (stream));
}

rtError_t rtEventRecord(rtEvent_t event, rtStream_t stream) {
  ++counts.record;
  CALL(rtEventRecord, (rtEvent_t, rtStream_t), (event, stream));
}

__attribute__((destructor)) static void tell(void) {
  fprintf(stderr,
          "hook: malloc %u physical %u info %u handle %u flag %u aicpu %u model %u copy %u wait %u "
          "record %u\n",
          counts.malloc, counts.physical, counts.info, counts.handle, counts.flag, counts.aicpu,
          counts.model, counts.copy, counts.wait, counts.record);
}
