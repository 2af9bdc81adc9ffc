# A fixed piece of work for JRuby: blocks, mixins, metaprogramming, strings, numbers, exceptions.
module Greeting
  def greet; "#{self.class.name.downcase} #{name}"; end
end

class Animal
  include Greeting
  include Comparable
  attr_accessor :name, :legs
  def initialize(name, legs) = (@name, @legs = name, legs)
  def <=>(other) = legs <=> other.legs
  def method_missing(what, *args) = what.to_s.end_with?("?") ? false : super
  def respond_to_missing?(what, all = false) = what.to_s.end_with?("?") || super
end

Point = Struct.new(:x, :y) do
  def +(other) = Point.new(x + other.x, y + other.y)
end

zoo = [Animal.new("bee", 6), Animal.new("ant", 6), Animal.new("crow", 2)]
puts zoo.min.greet, zoo.sort_by { |a| [a.legs, a.name] }.map(&:name).join(",")
puts zoo.first.flies?
begin
  zoo.first.swim
rescue NoMethodError => e
  puts e.name
ensure
  puts "done"
end
puts (Point.new(1, 2) + Point.new(3, 4)).to_a.inspect
puts (1..Float::INFINITY).lazy.select(&:even?).map { |n| n * n }.first(5).inspect
puts "the cat sat on the mat".scan(/\b[cm]at\b/).inspect, "hello world".gsub(/o(.)/) { "0#{$1}" }
puts 2**100, 17.divmod(-5).inspect, 10.0 / 4, Rational(3, 6), 255.to_s(16)
puts %w[b a c].each_with_index.to_h { |w, i| [w.to_sym, i] }.inspect
case [1, [2, 3]]
in [Integer => a, [b, *rest]] then puts a + b, rest.inspect
end
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
puts fib(15)
puts [3, 1, 2].each_slice(2).map(&:sum).inspect, format("%05.1f|%-5s|%x", 3.14159, "ab", 255)
catch(:found) { (1..10).each { |n| throw :found if n == 3; puts n } }
eval("puts [1, 2, 3].reduce(:+)")
puts [1, [2, [3, nil]]].flatten.compact.inspect, "äöü".bytes.size, :sym.to_proc.call("x") rescue puts "no sym"
