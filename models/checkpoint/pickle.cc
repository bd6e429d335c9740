#include "encdec/models/checkpoint/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <optional>

#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {
namespace {

using Index = Pickle::Index;

// Names as in Python's pickle.py.
enum class Opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  binfloat = 'G',
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  none = 'N',
  binpersid = 'Q',
  reduce = 'R',
  binstring = 'T',
  short_binstring = 'U',
  binunicode = 'X',
  append = 'a',
  build = 'b',
  global = 'c',
  empty_dict = '}',
  appends = 'e',
  binget = 'h',
  long_binget = 'j',
  empty_list = ']',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  tuple = 't',
  empty_tuple = ')',
  setitems = 'u',
  binbytes = 'B',
  short_binbytes = 'C',
  proto = 0x80,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  new_true = 0x88,
  new_false = 0x89,
  long1 = 0x8a,
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
};

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& file, Pickle::Allowed allowed)
      : reader_(bytes, file), allowed_(allowed) {}

  // Runs to the end and gives the place of the object that is left.
  Index run() {
    for (;;) {
      begin_ = reader_.position();
      if (begin_ >= Pickle::kMaxBytes) fail(fmt::format("a pickle of more than {} bytes", Pickle::kMaxBytes));
      const auto opcode = static_cast<Opcode>(reader_.number<std::uint8_t>("an opcode"));
      if (opcode == Opcode::stop) return stop();
      step(opcode);
    }
  }

  std::size_t position() const { return reader_.position(); }
  std::vector<Pickle::Object> take() { return std::move(objects_); }

 private:
  [[noreturn]] void fail(std::string_view found) const {
    throw FileError(fmt::format("{}: byte {}: {}", reader_.file(), begin_, found));
  }

  void step(Opcode opcode) {
    switch (opcode) {
      case Opcode::proto: return read_protocol();
      case Opcode::frame: reader_.take(8, "a frame"); return;  // a hint for who reads in blocks

      case Opcode::none: return push(Pickle::None{});
      case Opcode::new_true: return push(true);
      case Opcode::new_false: return push(false);
      case Opcode::binint: return push(std::int64_t{static_cast<std::int32_t>(number<std::uint32_t>())});
      case Opcode::binint1: return push(std::int64_t{number<std::uint8_t>()});
      case Opcode::binint2: return push(std::int64_t{number<std::uint16_t>()});
      case Opcode::long1: return read_long();
      case Opcode::binfloat: return read_float();
      case Opcode::binunicode:
      case Opcode::binstring:
      case Opcode::binbytes: return read_text(number<std::uint32_t>());
      case Opcode::short_binunicode:
      case Opcode::short_binstring:
      case Opcode::short_binbytes: return read_text(number<std::uint8_t>());
      case Opcode::binunicode8: return read_text(number<std::uint64_t>());

      case Opcode::mark: marks_.push_back(stack_.size()); return;
      case Opcode::pop: pop(); return;
      case Opcode::pop_mark: pop_to_mark(); return;
      case Opcode::binput: return memorize(number<std::uint8_t>());
      case Opcode::long_binput: return memorize(number<std::uint32_t>());
      case Opcode::memoize: return memorize(memo_.size());
      case Opcode::binget: return recall(number<std::uint8_t>());
      case Opcode::long_binget: return recall(number<std::uint32_t>());

      case Opcode::empty_tuple: return push(Pickle::Tuple{});
      case Opcode::tuple: return push(Pickle::Tuple{pop_to_mark()});
      case Opcode::tuple1: return push_tuple(1);
      case Opcode::tuple2: return push_tuple(2);
      case Opcode::tuple3: return push_tuple(3);
      case Opcode::empty_list: return push(Pickle::List{});
      case Opcode::append: return append({pop()});
      case Opcode::appends: return append(pop_to_mark());
      case Opcode::empty_dict: return push(Pickle::Dict{});
      case Opcode::setitem: {
        const Index value = pop();
        return set_items({pop(), value});
      }
      case Opcode::setitems: return set_items(pop_to_mark());

      case Opcode::global: return read_global();
      case Opcode::stack_global: return pop_global();
      case Opcode::binpersid: return push(Pickle::Persistent{pop()});
      case Opcode::reduce: return reduce();
      case Opcode::build: return build();
      case Opcode::stop: break;
    }
    fail(fmt::format("opcode {:#04x}, expected one that checkpoints of tensors need", static_cast<unsigned>(opcode)));
  }

  template <class T>
  T number() {
    return reader_.number<T>("an opcode's number");
  }

  void push(Pickle::Object object) {
    if (objects_.size() == Pickle::kMaxObjects) fail(fmt::format("more than {} objects", Pickle::kMaxObjects));
    stack_.push_back(static_cast<Index>(objects_.size()));
    objects_.push_back(std::move(object));
  }

  // What lies under a mark can be reached only when the mark is gone.
  Index pop() {
    if (stack_.size() == (marks_.empty() ? 0 : marks_.back())) fail("takes from an empty stack, expected an object");
    const Index top = stack_.back();
    stack_.pop_back();
    return top;
  }

  Index top() {
    const Index index = pop();
    stack_.push_back(index);
    return index;
  }

  std::vector<Index> pop_to_mark() {
    if (marks_.empty()) fail("takes from a mark, expected one on the stack");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Index> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  void push_tuple(std::size_t count) {
    std::vector<Index> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push(Pickle::Tuple{std::move(items)});
  }

  void append(const std::vector<Index>& items) {
    auto* list = std::get_if<Pickle::List>(&objects_[top()]);
    if (list == nullptr) fail("appends to something else, expected a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<Index>& items) {
    auto* dict = std::get_if<Pickle::Dict>(&objects_[top()]);
    if (dict == nullptr) fail("sets items of something else, expected a dict");
    if (items.size() % 2 != 0) fail("a key without a value, expected pairs");
    for (std::size_t i = 0; i < items.size(); i += 2) dict->items.emplace_back(items[i], items[i + 1]);
  }

  void read_protocol() {
    const unsigned protocol = number<std::uint8_t>();
    if (begin_ != 0 || protocol < 2 || protocol > 5) {
      fail(fmt::format("protocol {}, expected 2 to 5 at byte 0", protocol));
    }
  }

  void read_long() {
    const auto bytes = reader_.take(number<std::uint8_t>(), "a number");
    if (bytes.size() > sizeof(std::int64_t)) return push(Pickle::Opaque{});
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    const bool negative = !bytes.empty() && std::to_integer<unsigned>(bytes.back()) >= 0x80;
    if (negative && bytes.size() < sizeof(value)) value |= ~std::uint64_t{0} << (8 * bytes.size());
    push(static_cast<std::int64_t>(value));
  }

  void read_float() {
    std::uint64_t bits = 0;  // the one big-endian number of the format
    for (const std::byte byte : reader_.take(sizeof(bits), "a number")) {
      bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
    }
    push(std::bit_cast<double>(bits));
  }

  void read_text(std::uint64_t bytes) { push(Pickle::Text{as_text(reader_.take(bytes, "a string"))}); }

  // Picklers number from zero: an index beyond the bytes so far is no pickler's, and would only cost memory.
  void memorize(std::size_t index) {
    if (index > begin_) fail(fmt::format("memo {}, expected at most one for each byte so far", index));
    if (index >= memo_.size()) memo_.resize(index + 1);
    memo_[index] = top();
  }

  void recall(std::size_t index) {
    if (index >= memo_.size() || !memo_[index]) fail(fmt::format("memo {} is empty, expected an object", index));
    stack_.push_back(*memo_[index]);
  }

  std::string_view read_line() {
    constexpr std::size_t kMaxName = 1000;
    std::size_t length = 0;
    auto rest = reader_;
    while (rest.number<std::uint8_t>("a global's name") != '\n') {
      if (++length > kMaxName) fail("the name of a global without end, expected a line");
    }
    const auto line = as_text(reader_.take(length, "a global's name"));
    reader_.take(1, "a global's name");
    return line;
  }

  void read_global() {
    const std::string_view module = read_line();
    push_global({module, read_line()});
  }

  void pop_global() {
    const auto* name = std::get_if<Pickle::Text>(&objects_[pop()]);
    const auto* module = std::get_if<Pickle::Text>(&objects_[pop()]);
    if (module == nullptr || name == nullptr) fail("a global that is named by other objects, expected two strings");
    push_global({module->text, name->text});
  }

  static bool is_ordered_dict(const Pickle::Global& global) {
    return global.module == "collections" && global.name == "OrderedDict";
  }

  void push_global(const Pickle::Global& global) {
    if (!is_ordered_dict(global) && !allowed_(global)) {
      fail(fmt::format("global '{} {}' is not allowed: expected a dict of dense tensors and nothing that runs",
                       printable(global.module), printable(global.name)));
    }
    push(global);
  }

  void reduce() {
    const Index arguments = pop(), function = pop();
    const auto* global = std::get_if<Pickle::Global>(&objects_[function]);
    const auto* tuple = std::get_if<Pickle::Tuple>(&objects_[arguments]);
    if (global == nullptr || tuple == nullptr) fail("calls something else, expected a global with a tuple");
    if (is_ordered_dict(*global)) {
      if (!tuple->items.empty()) fail("an OrderedDict of something, expected it empty");
      return push(Pickle::Dict{});
    }
    push(Pickle::Call{function, arguments});
  }

  // Sets attributes, such as a state dict's _metadata: not needed.
  void build() {
    pop();
    if (!std::holds_alternative<Pickle::Dict>(objects_[top()]) &&
        !std::holds_alternative<Pickle::Call>(objects_[top()])) {
      fail("sets attributes of something else, expected a dict or a call");
    }
  }

  Index stop() {
    const Index root = pop();
    if (!stack_.empty() || !marks_.empty()) fail("ends with objects left over, expected one");
    return root;
  }

  ByteReader reader_;
  Pickle::Allowed allowed_;
  std::size_t begin_ = 0;  // of the opcode
  std::vector<Pickle::Object> objects_;
  std::vector<Index> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::vector<std::optional<Index>> memo_;
};

}  // namespace

Pickle::Pickle(std::span<const std::byte> bytes, const std::string& file, Allowed allowed)
    : Pickle(first_of(bytes, file, allowed)) {
  if (size_ < bytes.size()) {
    throw FileError(
        fmt::format("{}: byte {}: {} bytes behind the end, expected none", file, size_, bytes.size() - size_));
  }
}

Pickle Pickle::first_of(std::span<const std::byte> bytes, const std::string& file, Allowed allowed) {
  Machine machine(bytes, file, allowed);
  Pickle pickle;
  pickle.root_ = machine.run();
  pickle.size_ = machine.position();
  pickle.objects_ = machine.take();
  return pickle;
}

}  // namespace encdec
