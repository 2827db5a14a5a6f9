// SPDX-License-Identifier: Apache-2.0
// The managed pages of a process as a card has them that uses the host's in place: which it may
// use, and what is done when it asks for one. Of other cards there is nothing. Not locked:
// PagesLock is held.
#pragma once

#include "driver/managed/card_paging.hpp"
#include "driver/managed/managed_pages.hpp"
#include "driver/managed/service_trace.hpp"

namespace npu::driver {

class ExposedPages {
 public:
  // `card`: its place among those of `all`; `vmid`: of the process there.
  ExposedPages(ManagedPages& all, unsigned card, unsigned vmid, CardPaging& paging)
      : all_(all), card_(card), vmid_(vmid), paging_(paging) {}

  bool in_place() const { return paging_.in_place(); }
  // A page's memory on the host; `own`: this one, unless it is empty. kOutOfMemory.
  Result<std::shared_ptr<HostFrame>> new_frame(ByteSpan own) { return paging_.new_frame(own); }
  // The card wants the page: it is made if nobody has touched it, and the card's to write if that
  // is what it wants. kNotFound: it is no managed page.
  Status admit(std::uint64_t address, bool write, ServiceTrace& trace);
  // The card may use what the host has of the page, as the page is now; or no longer.
  Status expose(std::uint64_t at, ManagedPage& page);
  Status hide(std::uint64_t at, ManagedPage& page);

 private:
  CardPage& own(ManagedPage& page) const { return page.cards[card_]; }

  ManagedPages& all_;
  const unsigned card_, vmid_;
  CardPaging& paging_;
};

}  // namespace npu::driver
