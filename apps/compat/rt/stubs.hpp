// SPDX-License-Identifier: Apache-2.0
// Addresses of the program's that stand for kernels (rtFunctionRegister()).
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace npu::compat {

class Stubs {
 public:
  static Stubs& all();

  // False: it stands for one already.
  bool add(const void* stub, void* binary, void* function, const char* name);
  // Null: it stands for none.
  void* function_of(const void* stub);
  // Of the kernel's name; null: none stands for it.
  const void* find(const char* name);
  void forget(const void* binary);

 private:
  struct Stub {
    void* binary;
    void* function;
    std::string name;
  };

  std::mutex lock_;
  std::map<const void*, Stub> stubs_;
};

}  // namespace npu::compat
