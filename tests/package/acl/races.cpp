// SPDX-License-Identifier: Apache-2.0
// races CASE ordered|race: two accesses of the program's to the same bytes, with and without what
// orders them.
#include <acl/npusim_kernels.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "check.h"

namespace {

constexpr size_t kCount = 65536, kBytes = kCount * sizeof(float);

struct Machine {
  aclrtStream one = new_stream(), two = new_stream();
  aclrtEvent event = new_event();
  char* a = static_cast<char*>(device_memory(kBytes));
  char* b = static_cast<char*>(device_memory(kBytes));
  char* pinned = static_cast<char*>(pinned_memory(kBytes));
  aclrtFuncHandle add = nullptr;

  Machine() {
    aclrtBinHandle binary = nullptr;
    OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, nullptr, &binary));
    OK(aclrtBinaryGetFunction(binary, "add", &add));
    OK(aclrtMemset(a, kBytes, 0, kBytes));
    OK(aclrtMemset(b, kBytes, 0, kBytes));
  }
  // b = a + a
  void launch(aclrtStream stream) const { launch(stream, b); }
  void launch(aclrtStream stream, void* to) const {
    npusim_elementwise_args args{};
    args.to = reinterpret_cast<uint64_t>(to);
    args.a = args.b = reinterpret_cast<uint64_t>(a);
    args.count = kCount;
    args.type = ACL_FLOAT;
    OK(aclrtLaunchKernel(add, 8, &args, sizeof args, stream));
  }
  void fill(aclrtStream stream, char* memory) const {
    OK(aclrtMemsetAsync(memory, kBytes, 1, kBytes, stream));
  }
  void bring(aclrtStream stream, const char* memory) const {
    OK(aclrtMemcpyAsync(pinned, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  void send(aclrtStream stream) const {
    OK(aclrtMemcpyAsync(a, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  // Two waits for one.
  void order() const {
    OK(aclrtRecordEvent(event, one));
    OK(aclrtStreamWaitEvent(two, event));
  }
  void wait(aclrtStream stream) const { OK(aclrtSynchronizeStream(stream)); }
};

volatile char seen;

[[gnu::always_inline]] inline void fill_in_place(const Machine& m, aclrtStream stream) {
  OK(aclrtMemsetAsync(m.a, kBytes, 1, kBytes, stream));
}

using Case = std::function<void(Machine&, bool ordered)>;

const std::map<std::string, Case> kCases{
    {"kernel_and_kernel",
     [](Machine& m, bool ordered) {
       m.fill(m.one, m.a);
       if (ordered) m.order();
       m.launch(m.two);
     }},
    {"copy_and_kernel",
     [](Machine& m, bool ordered) {
       m.launch(m.one);
       if (ordered) m.order();
       m.bring(m.two, m.b);
     }},
    {"late_event",  // the record is of what came before
     [](Machine& m, bool ordered) {
       if (!ordered) m.order();
       m.launch(m.one);
       if (ordered) m.order();
       m.bring(m.two, m.b);
     }},
    {"notify",
     [](Machine& m, bool ordered) {
       aclrtNotify notify = nullptr;
       OK(aclrtCreateNotify(&notify, 0));
       if (ordered) OK(aclrtWaitAndResetNotify(notify, m.two, 0));
       m.fill(m.two, m.a);
       m.launch(m.one);
       OK(aclrtRecordNotify(notify, m.one));
     }},
    {"zero_copy",  // one way to the bytes is the kernel's, the other the copy's
     [](Machine& m, bool ordered) {
       void* there = nullptr;
       OK(aclrtHostGetDevicePointer(m.pinned, &there, 0));
       m.launch(m.one, there);
       if (ordered) m.order();
       OK(aclrtMemcpyAsync(m.b, kBytes, m.pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, m.two));
     }},
    {"host_order",
     [](Machine& m, bool ordered) {
       m.fill(m.one, m.a);
       m.fill(m.one, m.b);
       m.wait(ordered ? m.one : m.two);
       m.fill(m.two, m.a);
     }},
    {"free",
     [](Machine& m, bool ordered) {
       m.launch(m.one);
       if (ordered) m.wait(m.one);
       OK(aclrtFree(m.b));
     }},
    {"free_host",
     [](Machine& m, bool ordered) {
       m.send(m.one);
       if (ordered) m.wait(m.one);
       OK(aclrtFreeHost(m.pinned));
     }},
    {"host_write",
     [](Machine& m, bool ordered) {
       m.send(m.one);
       if (ordered) m.wait(m.one);
       m.pinned[100] = 1;
     }},
    {"host_read",
     [](Machine& m, bool ordered) {
       m.bring(m.one, m.a);
       if (ordered) m.wait(m.one);
       seen = m.pinned[kBytes - 1];
     }},
    {"behind_copy",  // which waits for itself alone
     [](Machine& m, bool ordered) {
       char own[64] = {};
       m.send(m.one);
       OK(aclrtMemcpy(m.b, kBytes, own, sizeof own, ACL_MEMCPY_HOST_TO_DEVICE));
       OK(aclrtMemcpy(own, sizeof own, m.b, sizeof own, ACL_MEMCPY_DEVICE_TO_HOST));
       OK(aclrtMemcpy(m.b, kBytes, m.pinned, sizeof own, ACL_MEMCPY_HOST_TO_DEVICE));
       if (ordered) m.wait(m.one);
       m.pinned[100] = 1;
     }},
    {"behind_event",
     [](Machine& m, bool ordered) {
       m.send(m.one);
       OK(aclrtRecordEvent(m.event, ordered ? m.one : m.two));
       OK(aclrtSynchronizeEvent(m.event));
       m.pinned[100] = 1;
     }},
    {"behind_stream",  // with an access that is no load or store, where nothing forbids it
     [](Machine& m, bool ordered) {
       m.send(m.one);
       if (ordered) m.order();
       m.wait(m.two);
       if (ordered) REQUIRE(syscall(SYS_getrandom, m.pinned, 100, 0) == 100);
       m.pinned[100] = 1;
     }},
    {"inlined",
     [](Machine& m, bool ordered) {
       fill_in_place(m, m.one);
       if (ordered) m.order();
       fill_in_place(m, m.two);
     }},
    {"threads",  // at the same line
     [](Machine& m, bool ordered) {
       for (const aclrtStream stream : {m.one, m.two}) {
         std::thread([&m, stream] {
           OK(aclrtSetDevice(0));
           m.fill(stream, m.a);
         }).join();
         if (ordered && stream == m.one) m.order();
       }
     }},
    {"second_copy",  // of the same pages
     [](Machine& m, bool ordered) {
       m.send(m.one);
       OK(aclrtMemcpyAsync(m.b, kBytes, m.pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, m.two));
       m.wait(m.one);
       if (ordered) m.wait(m.two);
       m.pinned[100] = 1;
     }},
    {"reads",  // no race, however
     [](Machine& m, bool) {
       m.launch(m.one);
       m.bring(m.two, m.a);
     }},
};

}  // namespace

int main(int, char** words) {
  const std::string name = words[1];
  open_device();
  {
    Machine machine;
    kCases.at(name)(machine, std::strcmp(words[2], "ordered") == 0);
    OK(aclrtSynchronizeDevice());
  }
  OK(aclrtResetDevice(0));
  return end_right();
}
