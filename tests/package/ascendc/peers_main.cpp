// SPDX-License-Identifier: Apache-2.0
// peers CARD OTHER: a child on card OTHER has the parent's memory and notify by their keys. Its
// kernels write there; the parent's stream waits for the notify, and sees what they have written.
#include "peers.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "program.hpp"

namespace {

struct Keys {
  char memory[65], notify[65];
};

template <class T>
void send(int pipe, const T& data) {
  REQUIRE(write(pipe, &data, sizeof data) == static_cast<ssize_t>(sizeof data));
}
template <class T>
T received(int pipe) {
  T data;
  REQUIRE(read(pipe, &data, sizeof data) == static_cast<ssize_t>(sizeof data));
  return data;
}

aclrtStream begin(std::int32_t card, std::int32_t other) {
  std::int32_t can = 0;
  aclrtStream stream = nullptr;
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(card));
  OK(aclrtCreateStream(&stream));
  OK(aclrtDeviceCanAccessPeer(&can, card, other));
  REQUIRE(can == 1);
  OK(aclrtDeviceEnablePeerAccess(other, 0));
  return stream;
}

void end(std::int32_t card, aclrtStream stream) {
  OK(aclrtDestroyStreamForce(stream));
  OK(aclrtResetDeviceForce(card));
  OK(aclFinalize());
}

int child(int from, int to, std::int32_t card, std::int32_t other) {
  aclrtStream stream = begin(card, other);
  std::int32_t pid = 0;
  OK(aclrtDeviceGetBareTgid(&pid));
  send(to, pid);
  auto keys = received<Keys>(from);
  void* memory = nullptr;
  aclrtNotify notify = nullptr;
  OK(aclrtIpcMemImportByKey(&memory, keys.memory, 0));
  OK(aclrtNotifyImportByKey(&notify, keys.notify, 0));
  auto* const words = static_cast<std::int32_t*>(memory);
  {
    const OnCard<std::int32_t> own(std::vector<std::int32_t>(kCopied, card));
    usleep(100'000);
    OK(copy_values(stream, words + kCopied, static_cast<std::int32_t*>(own.address())));
    OK(put_value(stream, words, 123));
    OK(aclrtRecordNotify(notify, stream));
    OK(aclrtSynchronizeStream(stream));
  }
  OK(aclrtIpcMemClose(keys.memory));
  OK(aclrtDestroyNotify(notify));
  end(card, stream);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  int down[2], up[2], status = 0;
  REQUIRE(count == 3 && pipe(down) == 0 && pipe(up) == 0);
  const std::int32_t card = std::atoi(words[1]), other = std::atoi(words[2]);
  const pid_t started = fork();
  if (started == 0) return child(down[0], up[1], other, card);
  aclrtStream stream = begin(card, other);
  Keys keys;
  aclrtNotify notify = nullptr;
  OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  auto pid = received<std::int32_t>(up[0]);
  {
    const OnCard<std::int32_t> shared(std::vector<std::int32_t>(2 * kCopied)),
        seen(shared.values());
    const std::size_t bytes = 2 * kCopied * sizeof(std::int32_t);
    OK(aclrtIpcMemGetExportKey(shared.address(), bytes, keys.memory, sizeof keys.memory, 0));
    OK(aclrtIpcMemSetImportPid(keys.memory, &pid, 1));
    OK(aclrtNotifyGetExportKey(notify, keys.notify, sizeof keys.notify, 0));
    OK(aclrtNotifySetImportPid(notify, &pid, 1));
    send(down[1], keys);
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    OK(aclrtMemcpyAsync(seen.address(), bytes, shared.address(), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                        stream));
    OK(aclrtSynchronizeStream(stream));
    const auto values = seen.values();
    REQUIRE(values[0] == 123 && values[1] == 0);
    for (std::uint32_t i = 0; i < kCopied; ++i) REQUIRE(values[kCopied + i] == other);
    OK(aclrtIpcMemClose(keys.memory));
  }
  OK(aclrtDestroyNotify(notify));
  end(card, stream);
  REQUIRE(waitpid(started, &status, 0) == started && status == 0);
  std::puts("right");
}
