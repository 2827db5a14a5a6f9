// SPDX-License-Identifier: Apache-2.0
// Wrong calls: the error that the headers name, and no queue is any different.
#pragma once

#include "tests/attack/queues/process.hpp"

namespace npu::attack {

class QueueMisuse {
 public:
  explicit QueueMisuse(QueueProcess& process)
      : process_(process), random_(process.random), world_(process.world) {}

  // One wrong call of a random kind.
  void call();

 private:
  void expect(const char* what, const Status& status, std::initializer_list<ErrorCode> codes);
  template <class T>
  void expect(const char* what, const Result<T>& result, std::initializer_list<ErrorCode> codes) {
    expect(what, result ? Status{} : Status(forward_error(result)), codes);
  }

  void options();
  void processes();
  void ids();
  void changes(Lane& lane);
  void entries(Lane& lane);
  void tickets(Lane& lane);
  void foreign(Lane& lane);
  driver::QueueId nobody();

  QueueProcess& process_;
  fuzz::Random& random_;
  QueueWorld& world_;
};

}  // namespace npu::attack
