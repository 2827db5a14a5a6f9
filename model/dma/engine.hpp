// SPDX-License-Identifier: Apache-2.0
// One DMA engine: holds up to engine_queue_depth requests in order and executes them one at a
// time. While the end of a request is announced, engine_setup and data of the next one may already
// run if that need not come after it; requests leave in order all the same.
#pragma once

#include <vector>

#include "model/dma/data_mover.hpp"
#include "model/dma/dma_types.hpp"

namespace npu::model {

class Engine : private DataMover::Listener {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The request has left the engine, whose queue has a free place.
    virtual void request_left(const DmaRequest& request) = 0;
    // Neither is it there any more, but it has not ended: it needs the page. `behind`: of its
    // stream, which must not be executed before it, in order.
    virtual void page_missing(DmaRequest request, const MissingPage& page,
                              std::vector<DmaRequest> behind) = 0;
    // Neither is it there any more, but it has not ended, and will not.
    virtual void request_lost(DmaRequest request, std::vector<DmaRequest> behind) = 0;
  };

  // `track_prefix`: of the card.
  Engine(DmaShared& shared, const std::string& track_prefix, std::uint8_t index,
         Listener& listener);

  unsigned load() const { return static_cast<unsigned>(tail_ - head_); }
  bool full() const { return load() == requests_.size(); }
  // Not full.
  void accept(const DmaRequest& request);
  void stop(const DmaClient& client, std::uint64_t context);  // see DmaRequestPort
  void response(const RequestTag& tag, tlm::tlm_generic_payload& trans);
  // What it still has to write to the host for the function is asked for again (PCIe 10.3: an
  // invalidated translation must not be used any more).
  void translations_invalidated(unsigned function);
  // It begins no more requests while it is stuck; what it has begun ends. A reset of a function
  // that uses the engine ends that, too.
  void set_stuck(bool stuck);
  // It loses the next request that it begins: nothing of it happens. A fault for tests.
  void lose_next(bool lose) { loses_next_ = lose; }
  bool loses_next() const { return loses_next_; }
  // Forgets the function's requests; late responses are dropped.
  void reset(unsigned function);

 private:
  DmaRequest& slot(std::uint64_t index) { return requests_[index % requests_.size()]; }
  DmaRequest& current() { return slot(next_ - 1); }
  void start_next();
  void setup_done(std::uint64_t number);
  void check(DmaRequest& request) const;
  void translate_next();
  void translated(tlm::tlm_generic_payload& trans);
  void translate_from(Bytes position);
  void not_translated(const CommandFault& fault);
  void data_done(const CommandFault& fault) override;
  void page_missing(const MissingPage& page) override;
  // The current request is not the engine's any more; `behind`: neither are those after it.
  DmaRequest give_up(std::vector<DmaRequest>& behind);
  void complete(std::uint64_t number);
  void account(const DmaRequest& request);

  DmaShared& shared_;
  const std::uint8_t index_;
  const std::uint32_t track_;
  Listener& listener_;
  DataMover mover_;
  // Ring of requests: [head_, next_) are started, the last of them possibly executing and those
  // before it being announced; [next_, tail_) wait.
  std::vector<DmaRequest> requests_;
  std::uint64_t head_ = 0, next_ = 0, tail_ = 0;
  std::uint64_t accepted_ = 0;  // so far: their numbers
  bool executing_ = false;
  bool stuck_ = false;
  bool loses_next_ = false;
  SimTime completion_free_ = 0;  // completion processing serves one request at a time
  Bytes translate_begin_ = 0;    // to the host: bytes before need no translation any more
  Bytes translated_ = 0;         // to the host: bytes of the destination known to be mapped
  std::uint32_t translation_generation_ = 0;
};

}  // namespace npu::model
