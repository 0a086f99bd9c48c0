// Numbers of nodes, guards and edges as types of their own, so that one cannot be used in place of another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <utility>
#include <vector>

namespace fairlead::plan {

// The position of an element in a list. `Of` only tells the types apart. An Id is converted from and to a number
// explicitly.
template <class Of>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(size_t index) : index_(static_cast<uint32_t>(index)) {}

  constexpr uint32_t index() const { return index_; }
  constexpr auto operator<=>(const Id&) const = default;

  // Shows the number in the messages of tests.
  friend void PrintTo(Id id, std::ostream* stream) { *stream << id.index_; }

 private:
  uint32_t index_ = 0;
};

// The number of a node of a plan.
using NodeId = Id<struct NodeTag>;

// The ids from 0 up to, but not including, a number: `for (NodeId node : IdRange<NodeId>(n))`.
template <class Key>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = Key;
    using difference_type = std::ptrdiff_t;

    constexpr Iterator() = default;
    constexpr explicit Iterator(size_t at) : at_(at) {}
    constexpr Key operator*() const { return Key(at_); }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr Iterator operator++(int) { return Iterator(at_++); }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    size_t at_ = 0;
  };

  constexpr explicit IdRange(size_t size) : size_(size) {}
  constexpr Iterator begin() const { return Iterator(0); }
  constexpr Iterator end() const { return Iterator(size_); }
  constexpr size_t size() const { return size_; }
  constexpr bool contains(Key id) const { return id.index() < size_; }

 private:
  size_t size_;
};

// A vector that is indexed by ids of one type.
template <class Key, class T>
class IdVector {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  IdVector() = default;
  explicit IdVector(size_t size) : elements_(size) {}
  IdVector(size_t size, const T& value) : elements_(size, value) {}
  explicit IdVector(std::vector<T> elements) : elements_(std::move(elements)) {}

  decltype(auto) operator[](Key id) { return elements_[id.index()]; }
  decltype(auto) operator[](Key id) const { return elements_[id.index()]; }

  size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  // The ids of all elements, in ascending order.
  IdRange<Key> ids() const { return IdRange<Key>(elements_.size()); }

  // Adds an element, and returns its id.
  Key add(T element) {
    elements_.push_back(std::move(element));
    return Key(elements_.size() - 1);
  }
  void reserve(size_t size) { elements_.reserve(size); }
  void resize(size_t size) { elements_.resize(size); }
  decltype(auto) back() { return elements_.back(); }

  auto begin() { return elements_.begin(); }
  auto end() { return elements_.end(); }
  auto begin() const { return elements_.begin(); }
  auto end() const { return elements_.end(); }

 private:
  std::vector<T> elements_;
};

}  // namespace fairlead::plan

template <class Of>
struct std::hash<fairlead::plan::Id<Of>> {
  size_t operator()(fairlead::plan::Id<Of> id) const noexcept { return std::hash<uint32_t>()(id.index()); }
};
