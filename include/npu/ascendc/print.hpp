// SPDX-License-Identifier: Apache-2.0
// printf() of kernels. A launch by `<<<>>>` gives the kernel a buffer of device memory; each core
// writes its messages into a region of its own, and the host formats them (printed.hpp).
//
// A region: the bytes of its messages, the number of those that had no room, the messages. All are
// words of 8 bytes. A message: how many words it has, the format, the values. A text: its bytes,
// then these, filled up to a word. A value: kind and size, then a word, or of a text the text.
#pragma once

#include "npu/ascendc/gm_pointer.hpp"

namespace npu::ascendc {

enum class PrintedKind : std::uint8_t { kSigned, kUnsigned, kReal, kText };

inline constexpr std::uint64_t kRegionHeader = 16;                       // bytes
inline constexpr std::uint64_t kLeastRegion = 256, kMostRegion = 16384;  // bytes
inline constexpr unsigned kRegionsOfBlock = 3;  // of a mixed block every core has one

// Where a function of the host's calls printf(), which is that of kernels with `using namespace
// AscendC`; null: nobody does.
inline void (*print_on_host)(const std::uint64_t* words, unsigned count) = nullptr;

class PrintedMessage {
 public:
  void add(const char* text) {
    if (text == nullptr) text = "(null)";
    const std::size_t bytes = std::strlen(text);
    add_word(bytes);
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text + at, std::min(sizeof word, bytes - at));
      add_word(word);
    }
  }
  void add(PrintedKind kind, std::size_t size, std::uint64_t value) {
    add_word(static_cast<std::uint64_t>(kind) << 8 | size);
    add_word(value);
  }
  void add_kind(PrintedKind kind) { add_word(static_cast<std::uint64_t>(kind) << 8); }

  // Writes it behind the others of the core, if there is room.
  void write() {
    words_[0] = count_;
    if (current == nullptr) {
      if (print_on_host != nullptr) print_on_host(words_.data(), count_);
      return;
    }
    const std::uint64_t region = region_of_core(), bytes = current->print_bytes;
    const auto used = load<std::uint64_t>(region);
    const std::uint64_t size = count_ * sizeof(std::uint64_t);
    if (!fits_ || kRegionHeader + used + size > bytes) {
      store<std::uint64_t>(region + 8, load<std::uint64_t>(region + 8) + 1);
      return;
    }
    for (unsigned i = 0; i < count_; ++i) {
      store<std::uint64_t>(region + kRegionHeader + used + i * sizeof words_[0], words_[i]);
    }
    store<std::uint64_t>(region, used + size);
  }

 private:
  void add_word(std::uint64_t word) {
    if (count_ == words_.size()) {
      fits_ = false;
    } else {
      words_[count_++] = word;
    }
  }
  // The buffer's address and the bytes of a region stand behind the kernel's own arguments.
  static std::uint64_t region_of_core() {
    KernelState& state = *current;
    if (state.print_region == 0) {
      const std::uint64_t at = state.print_arguments;
      on_core([&](AicorePort& port) { port.clean_invalidate(at); });
      on_core([&](AicorePort& port) { port.clean_invalidate(at + 8); });
      const auto buffer = load<std::uint64_t>(at);
      state.print_bytes = load<std::uint64_t>(at + 8);
      const auto mine = call();
      state.print_region =
          buffer + (std::uint64_t{mine.block} * kRegionsOfBlock + mine.role) * state.print_bytes;
    }
    return state.print_region;
  }

  std::array<std::uint64_t, 256> words_{};
  unsigned count_ = 1;
  bool fits_ = true;
};

inline void print_value(PrintedMessage& message, const char* text) {
  message.add_kind(PrintedKind::kText);
  message.add(text);
}
template <class T>
void print_value(PrintedMessage& message, const AscendC::GmPointer<T>& pointer) {
  message.add(PrintedKind::kUnsigned, sizeof(std::uint64_t), pointer.address());
}
template <class T>
void print_value(PrintedMessage& message, const AscendC::GmReference<T>& value) {
  print_value(message, static_cast<std::remove_cv_t<T>>(value));
}
template <class T>
std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_convertible_v<T, float>>
print_value(PrintedMessage& message, const T& value) {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    const bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    message.add(is_signed ? PrintedKind::kSigned : PrintedKind::kUnsigned,
                std::max<std::size_t>(sizeof(T), sizeof(int)), static_cast<std::uint64_t>(value));
  } else {
    const auto real = static_cast<double>(static_cast<float>(value));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &real, sizeof bits);
    message.add(PrintedKind::kReal, sizeof real, bits);
  }
}

namespace {
// Whether a kernel of this source may print; set before main() where a call of printf() is
// compiled.
[[maybe_unused]] bool prints = false;
template <class... Given>
struct PrintCall {
  static inline const bool known = (prints = true, true);
};
template <class... Given>
inline constexpr bool kHasPrintBuffer =
#ifdef NPUSIM_CC_LAUNCHED
    true;
#else
    sizeof...(Given) > 1000;
#endif

// In the object of a kernel that prints, and of no other: the linker drops what nobody calls.
[[gnu::section(".npusim_prints")]] const char kPrints = 1;

template <class... Given>
void print(const char* format, const Given&... given) {
  static_assert(kHasPrintBuffer<Given...>, "printf is there with npusim cc --host");
  static_cast<void>(PrintCall<Given...>::known);
  asm volatile("" : : "r"(&kPrints));
  PrintedMessage message;
  message.add(format);
  (print_value(message, given), ...);
  message.write();
}
}  // namespace

// What a kernel ends itself with: asm("trap").
[[noreturn]] inline void trap() {
  refuse(Refusal::kTrap);
}

}  // namespace npu::ascendc

namespace AscendC {

// As that of C, without %n. Comes out where the program waits for the stream.
template <class... Given>
void printf(const char* format, const Given&... given) {
  npu::ascendc::print(format, given...);
}
template <class... Given>
void PRINTF(const char* format, const Given&... given) {
  npu::ascendc::print(format, given...);
}
inline void Trap() {
  npu::ascendc::trap();
}

}  // namespace AscendC
