// SPDX-License-Identifier: Apache-2.0
// The card asks the host for translations of process addresses (ATS), and for pages where there are
// none (PRI). Source: PCIe Base 5.0, 10.2 (translation requests), 10.4 (page requests).
//
// What waits for a page of 2 MiB in one way, to be read or to be written, is one request; later
// ones join it. A page that the host does not have whole is none for the card.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/mmu/tagged_address.hpp"

namespace npu::model {

class TranslationRequests {
 public:
  using Waiting = std::vector<tlm::tlm_generic_payload*>;
  // Of a socket to the endpoint.
  using Send = std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, sc_core::sc_time&)>;

  class Listener {
   public:
    virtual ~Listener() = default;
    // The page may be read, with `write` also written.
    virtual void granted(TaggedAddress page, bool write, const Waiting& waiting) = 0;
    virtual void refused(const Waiting& waiting, Completion completion) = 0;
    // A request that `replays` needs a page that the host has to make; its end is settled().
    virtual void sent_back(tlm::tlm_generic_payload& trans) = 0;
    virtual void settled(TaggedAddress page, Completion completion) = 0;
  };

  TranslationRequests(Simulation& sim, const std::string& track, Send send, Listener& listener);
  TranslationRequests(const TranslationRequests&) = delete;
  TranslationRequests& operator=(const TranslationRequests&) = delete;

  // What the functions may ask for; before the simulation starts.
  void connect(const HostServicesPort& services) { services_ = &services; }

  // `trans` needs the page, of the process `pasid`.
  void want(tlm::tlm_generic_payload& trans, TaggedAddress page, std::uint32_t pasid);
  // The answer to a translation request. The payload is released.
  void answered(tlm::tlm_generic_payload& trans);
  // A PRG Response; whether the function has asked for that group.
  bool responded(unsigned function, const PageResponseMessage& message);
  // Answers that are on their way are no longer true.
  void invalidate(unsigned function);
  // What waits in the space, which asks for nothing more, fails; the host is told that no page
  // requests follow (a Stop Marker, PCIe 10.4.1.2).
  void stop(SpaceId space, std::uint32_t pasid);
  // Forgets what the function has asked for, and gives what waits.
  Waiting reset(unsigned function);
  // Whether settled() will be called for the page.
  bool replays(TaggedAddress page) const;

 private:
  enum class State : std::uint8_t {
    kFree,
    kTranslating,  // a translation request is on its way
    kQueued,       // for its turn to make a page request
    kRequested,    // a page request is
  };
  struct Request {
    State state = State::kFree;
    bool write = false;
    bool stale = false;       // kTranslating: the answer is not to be believed
    std::uint16_t group = 0;  // kRequested
    std::uint32_t generation = 0;
    std::uint32_t pasid = 0;
    TaggedAddress page = 0;
    SimTime since = 0;  // of its state
    std::uint64_t cause = 0;
    Waiting waiting;
    bool replays = false;  // some were sent back
    bool wanted() const { return replays || !waiting.empty(); }
  };

  void translate(std::uint32_t number);
  void ask_for_page(std::uint32_t number);
  bool send_page_request(const Request& request, bool stop_marker);
  void ask_queued(unsigned function);
  unsigned outstanding(unsigned function) const;
  std::uint16_t free_group(unsigned function) const;
  void refuse(std::uint32_t number, Completion completion);
  void send_back(Request& request);
  void free(std::uint32_t number);
  unsigned function_at(std::uint32_t number) const {
    return function_of(space_of_tagged(requests_[number].page));
  }

  Simulation& sim_;
  const std::uint32_t track_;
  const Send send_;
  Listener& listener_;
  const HostServicesPort* services_ = nullptr;
  std::vector<Request> requests_;
};

}  // namespace npu::model
