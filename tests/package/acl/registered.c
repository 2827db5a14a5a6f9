/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the program's own that becomes pinned memory and ordinary memory again; after fork() a
   child has a copy. */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define SIZE 100000

static unsigned char* const kNothing = (unsigned char*)0x10000;
static const unsigned char text[] = "that is only to be read";

int main(void) {
  unsigned char* host = malloc(SIZE + 100);
  unsigned char *begin = host + 50, *there = NULL;
  int status = 0;
  open_device();
  aclrtStream stream = new_stream();
  void* device = device_memory(SIZE);
  memset(host, 7, SIZE + 100);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtHostRegister(begin, 0, 0, (void**)&there));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtHostRegister(begin, SIZE, 1, (void**)&there));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegister(kNothing, SIZE, 0, (void**)&there));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegister((void*)text, 8, 0, (void**)&there));
  OK(aclrtHostRegister(begin, SIZE, 0, (void**)&there));
  REQUIRE(there != NULL && host[0] == 7 && host[SIZE + 99] == 7);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegister(begin, SIZE, 0, (void**)&there));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegister(begin + 8, 8, 0, (void**)&there));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(begin));
  /* Asynchronous, from and to the very bytes. */
  memset(begin, 9, SIZE);
  OK(aclrtMemcpyAsync(device, SIZE, begin, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclrtSynchronizeStream(stream));
  memset(begin, 0, SIZE);
  OK(aclrtMemcpyAsync(begin, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(begin[0] == 9 && begin[SIZE - 1] == 9 && begin[-1] == 7 && begin[SIZE] == 7);
  const pid_t child = fork();
  if (child == 0) {
    REQUIRE(begin[5] == 9);
    memset(host, 1, SIZE + 100);
    _exit(0);
  }
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(begin[5] == 9 && host[0] == 7);
  OK(aclrtHostUnregister(begin));
  REQUIRE(begin[0] == 9 && begin[SIZE - 1] == 9 && host[0] == 7);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(begin));
  free(host);
  return end_right();
}
