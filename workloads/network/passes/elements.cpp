// SPDX-License-Identifier: Apache-2.0
// Chains of operators on each element, as one expression: their tensors are read and written once.
#include <algorithm>
#include <array>
#include <cctype>

#include "workloads/network/lowering.hpp"
#include "workloads/network/passes/pass.hpp"

namespace npu::network::passes {
namespace {

// Of operators elementwise and broadcast.
constexpr std::size_t kTensors = 4, kNumbers = 4, kNodes = 12;
constexpr const char* kTensorNames[] = {"a", "b", "c", "d"};
constexpr const char* kNumberNames[] = {"s", "s1", "s2", "s3"};

// The words of an expression, and what is between them.
std::vector<std::string_view> words_of(std::string_view expression) {
  std::vector<std::string_view> words;
  while (!expression.empty()) {
    std::size_t end = 0;
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    while (end < expression.size() && is_part(expression[end])) ++end;
    end = std::max<std::size_t>(end, 1);
    words.push_back(expression.substr(0, end));
    expression.remove_prefix(end);
  }
  return words;
}

class Chain {
 public:
  Chain(const GraphEdit& edit, std::size_t last) : edit_(edit) {
    text_ = text_of(last, false);
    std::sort(places_.begin(), places_.end());
  }

  bool fits() const { return fits_ && places_.size() > 1 && !tensors_.empty(); }
  const std::vector<std::size_t>& places() const { return places_; }
  Node fused() const {
    Node made;
    made.op = "FusedElements";
    made.inputs = tensors_;
    made.attributes["expression"] = text_;
    made.attributes["scalars"] = numbers_;
    return made;
  }

 private:
  static const char* expression_of(const Node& node) {
    const auto* const row = node.parts.empty() ? find_lowering(node) : nullptr;
    if (row == nullptr || row->expression == nullptr || node.prepared) return nullptr;
    return node.inputs.size() == row->needs ? row->expression : nullptr;
  }
  bool is_square(const Node& node) const {
    return is_op(node, "Pow") && !node.prepared && edit_.number(node.inputs[1]) == 2.0F;
  }

  // What is told apart: a wide tensor that is a constant may be repeated along others.
  std::string tensor(const std::string& value) {
    const auto found = std::find(tensors_.begin(), tensors_.end(), value);
    const auto place = static_cast<std::size_t>(found - tensors_.begin());
    if (found == tensors_.end()) tensors_.push_back(value);
    repeats_ = repeats_ || edit_.constant(value) != nullptr;
    if (tensors_.size() > (repeats_ ? 2 : kTensors)) {
      fits_ = false;
      return {};
    }
    return kTensorNames[place];
  }
  std::string number(float value) {
    const auto found = std::find(numbers_.begin(), numbers_.end(), value);
    const auto place = static_cast<std::size_t>(found - numbers_.begin());
    if (found == numbers_.end()) numbers_.push_back(value);
    if (numbers_.size() > kNumbers) {
      fits_ = false;
      return {};
    }
    return kNumberNames[place];
  }
  // Of a value that stands more than once in its expression only the name.
  std::string operand(const std::string& value, bool once) {
    const auto real = edit_.number(value);
    if (real && edit_.constant(value)->sides.size() <= 1) return number(*real);
    const auto place = edit_.maker(value);
    if (once && place && edit_.uses(value) == 1 && places_.size() < kNodes) {
      const Chain before = *this;
      auto text = text_of(*place, true);
      if (!text.empty() && fits_) return text;
      restore(before);  // the chain does not get by with it
    }
    return tensor(value);
  }
  void restore(const Chain& before) {
    places_ = before.places_;
    tensors_ = before.tensors_;
    numbers_ = before.numbers_;
    fits_ = before.fits_;
    repeats_ = before.repeats_;
  }
  // Empty: no operator of the kind.
  std::string text_of(std::size_t place, bool inside) {
    const auto& node = edit_.node(place);
    const char* expression = is_square(node) ? "a*a" : expression_of(node);
    if (expression == nullptr) return {};
    places_.push_back(place);
    const auto words = words_of(expression);
    std::array<std::string, 2> texts;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto times =
          std::count(words.begin(), words.end(), std::string_view("ab").substr(i, 1));
      if (times != 0) texts[i] = operand(node.inputs[i], times == 1);
    }
    std::string text;
    for (const auto word : words) {
      text += word == "a" ? texts[0] : word == "b" ? texts[1] : std::string(word);
    }
    return inside ? "(" + text + ")" : text;
  }

  const GraphEdit& edit_;
  std::vector<std::size_t> places_;
  std::vector<std::string> tensors_;
  std::vector<float> numbers_;
  std::string text_;
  bool fits_ = true;
  bool repeats_ = false;
};

}  // namespace

// From the last node of a chain upwards, so that it is as long as it can be.
std::size_t chain_elements(GraphEdit& edit) {
  std::size_t found = 0;
  for (std::size_t i = edit.size(); i-- > 0;) {
    const auto& outputs = edit.node(i).outputs;
    if (outputs.empty() || !edit.maker(outputs[0])) continue;
    const Chain chain(edit, i);
    if (!chain.fits() || !edit.is_closed(chain.places())) continue;
    edit.fuse(chain.places(), chain.fused());
    ++found;
  }
  return found;
}

}  // namespace npu::network::passes
