// SPDX-License-Identifier: Apache-2.0
// The command processor's own reads and writes, in device and in host memory, with whoever gets the
// answer.
#pragma once

#include <functional>
#include <vector>

#include "model/core/buffered_pool.hpp"
#include "model/core/simulation.hpp"
#include "model/dma/dma_types.hpp"

namespace npu::model {

// Where something lies, and for whom it is reached.
struct Place {
  bool host = false;
  SpaceId space = 0;        // of a device address; of a bus address: any of the function's
  std::uint32_t pasid = 0;  // of a bus address
  std::uint64_t address = 0;

  friend bool operator==(const Place& a, const Place& b) {
    return a.host == b.host && a.space == b.space && a.pasid == b.pasid && a.address == b.address;
  }
};

struct Answer {
  Completion completion;
  std::uint64_t address;      // as asked for
  const unsigned char* data;  // of a read; a translation: 8 bytes, how many are mapped
  Bytes length;
  SimTime issued;
  bool host;
  bool write;

  bool ok() const { return completion == Completion::kSuccess; }
  abi::FaultCode code() const { return host ? host_fault(completion) : device_fault(completion); }
};

class MemoryPort {
 public:
  // Forward paths of the module's sockets.
  using Forward = std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, sc_core::sc_time&)>;

  MemoryPort(Simulation& sim, Forward to_host, Forward to_device)
      : sim_(sim), to_host_(std::move(to_host)), to_device_(std::move(to_device)) {}

  // Later calls (object.*Method)(const Answer&, argument). At most 4 KiB, in one 4 KiB page.
  template <auto Method, class T>
  void read(const Place& place, Bytes length, std::uint64_t cause, T& object,
            std::uint64_t argument = 0) {
    issue(tlm::TLM_READ_COMMAND, place, length, cause, waiting<Method>(object, argument));
  }
  // How much is mapped for writes from a bus address on.
  template <auto Method, class T>
  void translate(const Place& place, std::uint64_t cause, T& object, std::uint64_t argument = 0) {
    translate(place, cause, waiting<Method>(object, argument));
  }
  // True: posted, there will be no answer. False: answered when the bytes are in device memory, or
  // because the function may not send them to the host.
  template <auto Method, class T>
  bool write(const Place& place, const void* data, Bytes length, std::uint64_t cause, T& object,
             std::uint64_t argument = 0) {
    if (place.host) {
      if (post(place, data, length, cause)) return true;
      refuse(place, length, waiting<Method>(object, argument));
      return false;
    }
    auto& trans =
        make(tlm::TLM_WRITE_COMMAND, place, length, cause, waiting<Method>(object, argument));
    std::memcpy(trans.get_data_ptr(), data, length);
    send(trans, false);
    return false;
  }
  // False: the function may not send it (bus mastering is off), and it is dropped.
  bool post(const Place& place, const void* data, Bytes length, std::uint64_t cause);

  void response(tlm::tlm_generic_payload& trans);
  // Answers on their way to the function are for nobody any more.
  void reset(unsigned function);
  std::size_t outstanding() const { return waiting_.size() - free_.size(); }

 private:
  struct Waiting {
    void* object = nullptr;
    std::uint64_t argument = 0;
    void (*call)(void*, const Answer&, std::uint64_t) = nullptr;  // null: nobody waits
    bool host = false;
    unsigned function = 0;
    std::uint64_t address = 0;
    Bytes length = 0;
  };

  template <auto Method, class T>
  static Waiting waiting(T& object, std::uint64_t argument) {
    return {&object,
            argument,
            [](void* self, const Answer& answer, std::uint64_t arg) {
              (static_cast<T*>(self)->*Method)(answer, arg);
            },
            false,
            0,
            0,
            0};
  }
  std::uint64_t wait_for_answer(const Place& place, Bytes length, Waiting waiting);
  void refuse(const Place& place, Bytes length, Waiting waiting);
  void refused(std::uint64_t context);
  Waiting take(std::uint64_t context);
  tlm::tlm_generic_payload& make(tlm::tlm_command command, const Place& place, Bytes length,
                                 std::uint64_t cause, Waiting waiting);
  void issue(tlm::tlm_command command, const Place& place, Bytes length, std::uint64_t cause,
             Waiting waiting);
  void translate(const Place& place, std::uint64_t cause, Waiting waiting);
  tlm::tlm_sync_enum send(tlm::tlm_generic_payload& trans, bool to_host);

  Simulation& sim_;
  Forward to_host_, to_device_;
  BufferedPool pool_;
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> free_;
};

}  // namespace npu::model
