// SPDX-License-Identifier: Apache-2.0
// Memory of a program of the C API beside a model of it, and streams to use it by.
#pragma once

#include <acl/acl.h>
#include <acl/npusim_kernels.h>

#include <cstdint>
#include <random>
#include <vector>

namespace npu::fuzz {

[[noreturn]] void give_up(const char* what, int status);

inline void expect_success(int status, const char* what) {
  if (status != ACL_SUCCESS) give_up(what, status);
}
#define ACL(call) ::npu::fuzz::expect_success(call, #call)

struct Machine {
  std::vector<aclrtContext> contexts;  // by device
  aclrtFuncHandle spin = nullptr;
  std::uint64_t server = 0;  // thread that runs functions
};

struct Stream {
  aclrtStream handle = nullptr;
  std::uint32_t device = 0;
};

// Two of each device, which threads have in common.
class Streams {
 public:
  explicit Streams(const Machine& machine);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  std::size_t size() const { return all_.size(); }
  const Stream& operator[](std::size_t number) const { return all_[number]; }
  // Waits for its work; then it is another one.
  void replace(std::size_t number);

 private:
  void open(Stream& stream);

  const Machine& machine_;
  std::vector<Stream> all_;
};

enum class Kind { kDevice, kManaged, kMapped, kPinned, kPageable };
constexpr int kKinds = 5;

struct Block {
  Kind kind = Kind::kDevice;
  std::uint32_t device = 0;
  unsigned char* at = nullptr;
  aclrtDrvMemHandle physical = nullptr;
  std::vector<unsigned char> model;
  int stream = -1;        // whose work used it last; -1: none is in flight
  bool in_calls = false;  // functions in flight use it
  bool on_host() const { return kind == Kind::kPinned || kind == Kind::kPageable; }
};

class World {
 public:
  // `own_streams`: no other thread uses them.
  World(const Machine& machine, Streams& streams, std::uint32_t seed, bool own_streams);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void step();
  void check_all();

 private:
  std::uint32_t any(std::size_t end) { return static_cast<std::uint32_t>(random_() % end); }
  void use(std::uint32_t device);
  Block make();
  void give_back(Block& block);
  void replace(Block& block);
  void wait_for(int stream);
  void wait_for(Block& block);
  void order(Block& block, int stream);
  int stream_for(const Block& a, const Block& b);
  void copy();
  void copy_rows();
  void fill();
  void call();
  void host_writes();
  void check(Block& block);
  void spin();
  aclrtMemcpyKind kind_of(const Block& to, const Block& from);
  void differ(const Block& block, std::size_t at, int found) const;

  const Machine& machine_;
  Streams& streams_;
  const std::uint32_t seed_;
  const bool own_streams_;
  std::mt19937 random_;
  std::vector<Block> blocks_;
  unsigned steps_ = 0;
};

}  // namespace npu::fuzz
