// SPDX-License-Identifier: Apache-2.0
// The computing token: how much of the cores' time there is.
#include <cmath>
#include <cstring>

#include "apps/dsmi/call.hpp"
#include "apps/dsmi/commands.hpp"
#include "npu/driver/time_slices.hpp"

namespace npu::dsmi {
namespace {

using Token = dsmi_computing_token_stru;

constexpr auto kTokenSetting =
    std::pair<unsigned, unsigned>(DSMI_MAIN_CMD_EX_COMPUTING, DSMI_EX_COMPUTING_SUB_CMD_TOKEN);

// Of a setting from here the type is known that it was made with.
unsigned char type_of(const CardSession& card) {
  const auto found = card.settings.find(kTokenSetting);
  return found == card.settings.end() ? COMPUTING_TOKEN_LAD0TKEN01 : found->second[0];
}

bool is_type(unsigned char type) {
  return type == 0 || type == COMPUTING_TOKEN_LAD0TKEN01 || type == COMPUTING_TOKEN_LAD0TKEN02;
}

}  // namespace

int get_token(CardSession& card, unsigned sub_cmd, const Buffer& buffer) {
  if (sub_cmd != DSMI_EX_COMPUTING_SUB_CMD_TOKEN) return DSMI_ERROR_NOT_SUPPORT;
  if (*buffer.size < sizeof(Token)) return DSMI_ERROR_PARAMETER;
  const auto token = card.access->token();
  if (!token) return code_of(token.error());
  return buffer.put(Token{static_cast<float>(*token), type_of(card), 0, 0});
}

int set_token(CardSession& card, unsigned sub_cmd, const void* data, unsigned size) {
  if (sub_cmd != DSMI_EX_COMPUTING_SUB_CMD_TOKEN) return DSMI_ERROR_NOT_SUPPORT;
  Token token{};
  if (size < sizeof token) return DSMI_ERROR_PARAMETER;
  std::memcpy(&token, data, sizeof token);
  // Not so of a value that is no number, either.
  const bool in_range = token.value >= 0 && token.value <= static_cast<float>(driver::kWholeToken);
  if (!in_range || !is_type(token.type)) return DSMI_ERROR_PARAMETER;
  const auto set = card.access->set_token(static_cast<unsigned>(std::lround(token.value)));
  if (!set) return code_of(set.error());
  card.settings[kTokenSetting] = {
      token.type == 0 ? static_cast<unsigned char>(COMPUTING_TOKEN_LAD0TKEN01) : token.type};
  return DSMI_OK;
}

}  // namespace npu::dsmi
