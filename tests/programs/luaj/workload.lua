-- A fixed piece of work for LuaJ: tables, metatables, closures, coroutine-free iteration, strings, errors.
local Account = {}
Account.__index = Account
Account.__tostring = function(a) return a.owner .. ": " .. a.cents end
Account.__add = function(a, b) return Account.new(a.owner .. "+" .. b.owner, a.cents + b.cents) end

function Account.new(owner, cents)
  return setmetatable({ owner = owner, cents = cents }, Account)
end

function Account:withdraw(cents)
  if cents > self.cents then error("only " .. self.cents .. " left", 0) end
  self.cents = self.cents - cents
end

local ada, bob = Account.new("ada", 1200), Account.new("bob", 5)
ada:withdraw(200)
print(pcall(bob.withdraw, bob, 10))
print(tostring(ada + bob))

local function map(t, f) local r = {} for i, v in ipairs(t) do r[i] = f(v) end return r end
local numbers = { 5, 3, 9, 1 }
table.sort(numbers, function(a, b) return a > b end)
print(table.concat(map(numbers, function(n) return n * n end), ","))
print(("the quick brown fox"):gsub("%a+", function(w) return w:sub(1, 1):upper() .. w:sub(2) end))
print(string.format("%5.2f|%-4s|%x", 3.14159, "ab", 255), #"hello", ("x"):rep(3), ("hello"):find("l+"))
local function fibonacci(n) if n < 2 then return n end return fibonacci(n - 1) + fibonacci(n - 2) end
print(fibonacci(15), 7 % 3, 2 ^ 10, 10 / 4, math.floor(-3.5), math.max(1, 7, 3))
local counted = {}
for word in ("a b a c b a"):gmatch("%a") do counted[word] = (counted[word] or 0) + 1 end
print(counted.a, counted.b, counted.c, next({}), select("#", 1, nil, 3))
local i = 0
repeat i = i + 1 until i * i > 50
while i > 0 do i = i - 3 if i == 2 then break end end
print(i, type(nil), tonumber("0x10"), tostring(true), not nil and 1 or 2)
print(load("return 6 * 7")(), select(2, pcall(error, { code = 3 })).code, rawequal(ada, ada))
for k = 10, 1, -3 do io.write(k, " ") end
print()
