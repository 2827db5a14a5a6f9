// SPDX-License-Identifier: Apache-2.0
// Objects of a platform that somebody has, and what a driver says was never given back.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/testing/access_observer.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/testing/leaks.hpp"

namespace npu::testkit {

class ObjectLedger {
 public:
  // One more object; its number. `size` 0: it has none.
  std::uint64_t add(std::string_view kind, Bytes size);
  void remove(std::uint64_t number) { objects_.erase(number); }
  // Whoever knows of them is gone.
  void note(std::string_view kind, std::uint64_t count, Bytes size);
  // Who hears what becomes of objects; null: nobody. They may outlive whoever does.
  void tell(AccessObserver* observer) { observer_ = observer; }
  void memory_goes(ByteSpan cpu) const {
    if (observer_ != nullptr) observer_->memory_gone(cpu);
  }
  void host_looks() const {
    if (observer_ != nullptr) observer_->host_looks();
  }
  // By kind, in the order in which the kinds were first there.
  std::vector<Leak> left() const;

 private:
  struct Object {
    std::string kind;
    Bytes size = 0;
  };

  std::map<std::uint64_t, Object> objects_;  // by number
  std::vector<Leak> told_;
  std::uint64_t numbers_ = 0;
  AccessObserver* observer_ = nullptr;
};

// One object, from its making to its end.
class LedgerEntry {
 public:
  LedgerEntry(std::shared_ptr<ObjectLedger> ledger, std::string_view kind, Bytes size = 0)
      : ledger_(std::move(ledger)), number_(ledger_->add(kind, size)) {}
  ~LedgerEntry() { ledger_->remove(number_); }
  const ObjectLedger& ledger() const { return *ledger_; }
  LedgerEntry(const LedgerEntry&) = delete;
  LedgerEntry& operator=(const LedgerEntry&) = delete;

 private:
  std::shared_ptr<ObjectLedger> ledger_;  // it may end behind the machine
  std::uint64_t number_;
};

}  // namespace npu::testkit
