// Debian ships fmt's compiled half only as a shared object; rocetune's binary must run where it is merely
// copied. This compiles that half in, once, at the lowest folder that formats. Everything else includes
// <fmt/core.h>, the declarations.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
