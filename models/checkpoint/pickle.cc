#include "encdec/models/checkpoint/pickle.h"

#include <bit>
#include <optional>

#include "encdec/models/checkpoint/byte_reader.h"

namespace encdec {
namespace {

using Index = Pickle::Index;

// Pickle's stack machine (CPython, Lib/pickle.py), restricted to the opcodes of weight files.
class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& file, Pickle::Allowed allowed)
      : reader_(bytes, file), allowed_(allowed) {}

  // Runs the pickle to its STOP opcode. Returns the index of the object that is left on the stack.
  Index run() {
    for (;;) {
      begin_ = reader_.position();
      if (begin_ >= Pickle::kMaxBytes) fail("a pickle of more than {} bytes", Pickle::kMaxBytes);
      const unsigned opcode = reader_.number<std::uint8_t>("an opcode");
      if (opcode == '.') return stop();  // STOP
      step(opcode);
    }
  }

  std::size_t position() const { return reader_.position(); }
  std::vector<Pickle::Object> take() { return std::move(objects_); }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> found, Args&&... args) const {
    refuse(fmt::format("{}: byte {}", reader_.file(), begin_), found, std::forward<Args>(args)...);
  }

  // Executes one opcode. The remark in each line is the opcode's name in Python's pickle.py.
  void step(unsigned opcode) {
    switch (opcode) {
      case 0x80: return read_protocol();              // PROTO
      case 0x95: reader_.take(8, "a frame"); return;  // FRAME: a block's size, which is not needed here

      case 'N': return push(Pickle::None{});                                                    // NONE
      case 0x88: return push(true);                                                             // NEW_TRUE
      case 0x89: return push(false);                                                            // NEW_FALSE
      case 'J': return push(std::int64_t{static_cast<std::int32_t>(number<std::uint32_t>())});  // BININT
      case 'K': return push(std::int64_t{number<std::uint8_t>()});                              // BININT1
      case 'M': return push(std::int64_t{number<std::uint16_t>()});                             // BININT2
      case 0x8a: return read_long();                                                            // LONG1
      case 'G': return read_float();                                                            // BINFLOAT
      case 'X':                                                                                 // BINUNICODE
      case 'T':                                                                                 // BINSTRING
      case 'B': return read_text(number<std::uint32_t>());                                      // BINBYTES
      case 0x8c:                                                                                // SHORT_BINUNICODE
      case 'U':                                                                                 // SHORT_BINSTRING
      case 'C': return read_text(number<std::uint8_t>());                                       // SHORT_BINBYTES
      case 0x8d: return read_text(number<std::uint64_t>());                                     // BINUNICODE8

      case '(': marks_.push_back(stack_.size()); return;   // MARK
      case '0': pop(); return;                             // POP
      case '1': pop_to_mark(); return;                     // POP_MARK
      case 'q': return memorize(number<std::uint8_t>());   // BINPUT
      case 'r': return memorize(number<std::uint32_t>());  // LONG_BINPUT
      case 0x94: return memorize(memo_.size());            // MEMOIZE
      case 'h': return recall(number<std::uint8_t>());     // BINGET
      case 'j': return recall(number<std::uint32_t>());    // LONG_BINGET

      case ')': return push(Pickle::Tuple{});               // EMPTY_TUPLE
      case 't': return push(Pickle::Tuple{pop_to_mark()});  // TUPLE
      case 0x85: return push_tuple(1);                      // TUPLE1
      case 0x86: return push_tuple(2);                      // TUPLE2
      case 0x87: return push_tuple(3);                      // TUPLE3
      case ']': return push(Pickle::List{});                // EMPTY_LIST
      case 'a': return append({pop()});                     // APPEND
      case 'e': return append(pop_to_mark());               // APPENDS
      case '}': return push(Pickle::Dict{});                // EMPTY_DICT
      case 's': return set_item();                          // SETITEM
      case 'u': return set_items(pop_to_mark());            // SETITEMS

      case 'c': return read_global();                    // GLOBAL
      case 0x93: return pop_global();                    // STACK_GLOBAL
      case 'Q': return push(Pickle::Persistent{pop()});  // BINPERSID
      case 'R': return reduce();                         // REDUCE
      case 'b': return build();                          // BUILD
    }
    fail("opcode {:#04x}, expected one that checkpoints of tensors need", opcode);
  }

  template <class T>
  T number() {
    return reader_.number<T>("an opcode's number");
  }

  void push(Pickle::Object object) {
    if (objects_.size() == Pickle::kMaxObjects) fail("more than {} objects", Pickle::kMaxObjects);
    stack_.push_back(static_cast<Index>(objects_.size()));
    objects_.push_back(std::move(object));
  }

  // Pops the topmost object. Throws FileError if there is no object above the topmost mark.
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

  // Pops the topmost mark and the objects above it. Returns the objects in the order in which they were pushed.
  std::vector<Index> pop_to_mark() {
    if (marks_.empty()) fail("takes from a mark, expected one on the stack");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Index> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  // Replaces the `count` topmost objects by a tuple that contains these objects.
  void push_tuple(std::size_t count) {
    std::vector<Index> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push(Pickle::Tuple{std::move(items)});
  }

  // Appends `items` to the list on top of the stack.
  void append(const std::vector<Index>& items) {
    auto* list = std::get_if<Pickle::List>(&objects_[top()]);
    if (list == nullptr) fail("appends to something else, expected a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
  }

  void set_item() {
    const Index value = pop();
    set_items({pop(), value});
  }

  // Adds `items`, in which keys and values alternate, to the dict on top of the stack.
  void set_items(const std::vector<Index>& items) {
    auto* dict = std::get_if<Pickle::Dict>(&objects_[top()]);
    if (dict == nullptr) fail("sets items of something else, expected a dict");
    if (items.size() % 2 != 0) fail("a key without a value, expected pairs");
    for (std::size_t i = 0; i < items.size(); i += 2) dict->items.emplace_back(items[i], items[i + 1]);
  }

  void read_protocol() {
    const unsigned protocol = number<std::uint8_t>();
    if (begin_ != 0 || protocol < 2 || protocol > 5) fail("protocol {}, expected 2 to 5 at byte 0", protocol);
  }

  // Reads LONG1: a little-endian integer in two's complement, of 0 to 255 bytes. More than 8 bytes become an Opaque.
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
    std::uint64_t bits = 0;  // BINFLOAT is the format's only big-endian number
    for (const std::byte byte : reader_.take(sizeof(bits), "a number")) {
      bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
    }
    push(std::bit_cast<double>(bits));
  }

  void read_text(std::uint64_t bytes) { push(Pickle::Text{as_text(reader_.take(bytes, "a string"))}); }

  // Stores the topmost object in the memo. Picklers number memo entries from zero, so an index above the number of
  // bytes read so far can only be an attempt to exhaust memory.
  void memorize(std::size_t index) {
    if (index > begin_) fail("memo {}, expected at most one for each byte so far", index);
    if (index >= memo_.size()) memo_.resize(index + 1);
    memo_[index] = top();
  }

  void recall(std::size_t index) {
    if (index >= memo_.size() || !memo_[index]) fail("memo {} is empty, expected an object", index);
    stack_.push_back(*memo_[index]);
  }

  // Reads a line of text. Returns the line without its newline.
  std::string_view read_line() {
    constexpr std::size_t kMaxName = 1000;
    std::size_t length = 0;
    auto rest = reader_;
    while (rest.number<std::uint8_t>("a global's name") != '\n') {
      if (++length > kMaxName) fail("a global's name without end, expected a line");
    }
    const auto line = as_text(reader_.take(length, "a global's name"));
    reader_.take(1, "a global's name");
    return line;
  }

  // Reads the two lines of GLOBAL: the module's name, and the global's name in the module.
  void read_global() {
    const std::string_view module = read_line();
    push_global({module, read_line()});
  }

  // Replaces the two strings on top of the stack by the global with these names (STACK_GLOBAL).
  void pop_global() {
    const auto* name = std::get_if<Pickle::Text>(&objects_[pop()]);
    const auto* module = std::get_if<Pickle::Text>(&objects_[pop()]);
    if (module == nullptr || name == nullptr) fail("a global that is named by other objects, expected two strings");
    push_global({module->text, name->text});
  }

  static bool is_ordered_dict(const Pickle::Global& global) {
    return global == Pickle::Global{"collections", "OrderedDict"};
  }

  void push_global(const Pickle::Global& global) {
    if (!is_ordered_dict(global) && !allowed_(global)) {
      fail("global '{} {}' is not allowed, expected only a dict of dense tensors, which runs no code",
           printable(global.module), printable(global.name));
    }
    push(global);
  }

  // Replaces the function and the arguments on top of the stack by a Call. A call of OrderedDict becomes a Dict.
  void reduce() {
    const Index arguments = pop(), function = pop();
    const auto* global = std::get_if<Pickle::Global>(&objects_[function]);
    const auto* tuple = std::get_if<Pickle::Tuple>(&objects_[arguments]);
    if (global == nullptr || tuple == nullptr) fail("calls something else, expected a global with a tuple");
    if (is_ordered_dict(*global)) {
      if (!tuple->items.empty()) fail("an OrderedDict with arguments, expected an empty one");
      return push(Pickle::Dict{});
    }
    push(Pickle::Call{function, arguments});
  }

  // Pops and ignores the attributes on top of the stack, such as a state dict's _metadata.
  void build() {
    pop();
    if (!std::holds_alternative<Pickle::Dict>(objects_[top()]) &&
        !std::holds_alternative<Pickle::Call>(objects_[top()])) {
      fail("sets attributes of something else, expected a dict or a call");
    }
  }

  // Pops and returns the result. Throws FileError unless the result was the only object on the stack.
  Index stop() {
    const Index root = pop();
    if (!stack_.empty() || !marks_.empty()) fail("ends with objects left over, expected one");
    return root;
  }

  ByteReader reader_;
  Pickle::Allowed allowed_;
  std::size_t begin_ = 0;  // position of the current opcode
  std::vector<Pickle::Object> objects_;
  std::vector<Index> stack_;
  std::vector<std::size_t> marks_;  // size of the stack at each mark
  std::vector<std::optional<Index>> memo_;
};

}  // namespace

Pickle::Pickle(std::span<const std::byte> bytes, const std::string& file, Allowed allowed)
    : Pickle(first_of(bytes, file, allowed)) {
  if (size_ < bytes.size()) {
    refuse(file, "byte {}: {} bytes after the end, expected none", size_, bytes.size() - size_);
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
