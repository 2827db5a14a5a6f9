/* SPDX-License-Identifier: Apache-2.0 */
/* Two cards of one program: addresses say which card they are of, whichever is current. */
#include <string.h>

#include "spin.h"

enum { kBytes = 65536, kBlocks = 8 };

static aclrtStream streams[2];
static char* blocks[2][kBlocks];

static int first_byte(const void* address) {
  unsigned char byte = 0;
  OK(aclrtMemcpy(&byte, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  return byte;
}

static void expect_device(const void* address, uint32_t device) {
  aclrtPtrAttributes attributes;
  OK(aclrtPointerGetAttributes(address, &attributes));
  REQUIRE(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);
  REQUIRE(attributes.location.id == device);
}

static void allocate(void) {
  for (int i = 0; i < kBlocks; ++i) {
    for (int device = 0; device < 2; ++device) {
      OK(aclrtSetDevice(device));
      OK(aclrtMalloc((void**)&blocks[device][i], kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
      OK(aclrtMemset(blocks[device][i], kBytes, 16 * device + i, kBytes));
    }
  }
}

/* All of them, with either card current. */
static void look(int current, int from) {
  OK(aclrtSetDevice(current));
  for (int i = from; i < kBlocks; ++i) {
    for (int device = 0; device < 2; ++device) {
      expect_device(blocks[device][i], (uint32_t)device);
      REQUIRE(first_byte(blocks[device][i]) == 16 * device + i);
      for (int k = 0; k < kBlocks; ++k) REQUIRE(blocks[0][k] != blocks[1][i]);
    }
  }
}

/* Host memory of either card, from streams of both. */
static void pinned(void) {
  for (int maker = 0; maker < 2; ++maker) {
    unsigned char* host = NULL;
    OK(aclrtSetDevice(maker));
    OK(aclrtMallocHost((void**)&host, kBytes));
    for (int device = 0; device < 2; ++device) {
      OK(aclrtSetDevice(device));
      memset(host, 50 + device, kBytes);
      OK(aclrtMemcpyAsync(blocks[device][7], kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                          streams[device]));
      OK(aclrtSynchronizeStream(streams[device]));
      REQUIRE(first_byte(blocks[device][7]) == 50 + device);
      OK(aclrtMemset(blocks[device][7], kBytes, 16 * device + 7, kBytes));
      OK(aclrtMemcpyAsync(host, kBytes, blocks[device][7], kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                          streams[device]));
      OK(aclrtSynchronizeStream(streams[device]));
      REQUIRE(host[0] == 16 * device + 7 && host[kBytes - 1] == host[0]);
    }
    OK(aclrtFreeHost(host));
  }
}

/* The other one goes on, whatever it was doing. */
static void give_one_back(void) {
  unsigned char byte = 0;
  aclrtFuncHandle kernel = built_in("spin");
  OK(aclrtSetDevice(1));
  spin(kernel, streams[1], 500);
  OK(aclrtMemsetAsync(blocks[1][3], kBytes, 99, kBytes, streams[1]));
  OK(aclrtResetDeviceForce(0));
  OK(aclrtSynchronizeStream(streams[1]));
  REQUIRE(first_byte(blocks[1][3]) == 99);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtMemcpy(&byte, 1, blocks[0][3], 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(streams[0]));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(blocks[0][3]));
  OK(aclrtSetDevice(0));
  void* again = device_memory(kBytes);
  expect_device(again, 0);
  expect_device(blocks[1][3], 1);
}

/* Memory of card 1 that is freed while a copy of card 0 uses it; card 0 is given back first. */
static void free_in_flight(void) {
  aclrtFuncHandle kernel = NULL;
  OK(aclrtSetDevice(1));
  void* there = device_memory(kBytes);
  OK(aclrtSetDevice(0));
  kernel = built_in("spin");
  void* here = device_memory(kBytes);
  aclrtStream stream = new_stream();
  OK(aclrtMemcpyAsync(here, kBytes, there, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  OK(aclrtSynchronizeStream(stream));
  spin(kernel, stream, 500);
  OK(aclrtMemcpyAsync(here, kBytes, there, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  OK(aclrtFree(there));
}

int main(void) {
  uint32_t count = 0;
  OK(aclInit(NULL));
  OK(aclrtGetDeviceCount(&count));
  REQUIRE(count == 2);
  for (int device = 0; device < 2; ++device) {
    OK(aclrtSetDevice(device));
    OK(aclrtCreateStream(&streams[device]));
  }
  allocate();
  look(0, 0);
  look(1, 0);
  pinned();
  OK(aclrtFree(blocks[0][0])); /* with card 1 current */
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(blocks[0][0]));
  REQUIRE(first_byte(blocks[1][0]) == 16);
  OK(aclrtSetDevice(0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(blocks[0][0]));
  OK(aclrtFree(blocks[1][0]));
  look(0, 1);
  give_one_back();
  free_in_flight();
  return end_right();
}
