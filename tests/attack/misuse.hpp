// SPDX-License-Identifier: Apache-2.0
// Wrong use of memory, streams and events: the error that the headers name, and nothing changed.
#pragma once

#include "tests/attack/process.hpp"

namespace npu::attack {

class Misuse {
 public:
  explicit Misuse(Process& process) : process_(process), random_(process.random) {}

  // One wrong call of a random kind.
  void call();

 private:
  void expect(const char* what, const Status& status, std::initializer_list<ErrorCode> codes);
  template <class T>
  void expect(const char* what, const Result<T>& result, std::initializer_list<ErrorCode> codes) {
    expect(what, result ? Status{} : Status(forward_error(result)), codes);
  }

  void sizes(SpaceModel& space);
  void reservations(SpaceModel& space);
  void maps(SpaceModel& space);
  void mapped(SpaceModel& space);
  void handles(SpaceModel& space);
  void stale(SpaceModel& space);
  void commands(SpaceModel& space);
  void streams(SpaceModel& space);
  Bytes odd_size();

  Process& process_;
  fuzz::Random& random_;
};

}  // namespace npu::attack
