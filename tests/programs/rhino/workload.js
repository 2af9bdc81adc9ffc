// A fixed piece of work for Rhino: closures, prototypes, regular expressions, JSON, exceptions, generators of text.
function Account(owner, cents) { this.owner = owner; this.cents = cents; }
Account.prototype = {
  deposit: function (cents) { if (cents <= 0) { throw new RangeError("nothing to deposit: " + cents); } this.cents += cents; return this; },
  toString: function () { return this.owner + ": " + (this.cents / 100).toFixed(2); }
};
var accounts = [new Account("ada", 1200), new Account("bob", 5)];
for (var i in accounts) {
  try { print(accounts[i].deposit(i * 100)); } catch (e) { print(e.name + " " + e.message); }
}
print([5, 3, 9, 1].sort(function (a, b) { return a - b; }).map(function (n) { return n * n; }).join());
print("the quick brown fox".replace(/\b(\w)(\w*)/g, function (all, first, rest) { return first.toUpperCase() + rest; }));
print(JSON.stringify({ a: [1, { b: null }], c: "\u00e4", d: undefined }), JSON.parse('{"x": [1, 2, {"y": true}]}').x[2].y);
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
print(fibonacci(15));
var counter = (function () { var n = 0; return { next: function () { return ++n; } }; })();
counter.next(); print(counter.next());
outer: for (var x = 0; x < 5; x++) { for (var y = 0; y < 5; y++) { if (x * y === 6) { print(x + "," + y); break outer; } } }
switch (typeof null) { case "object": print("object"); break; default: print("?"); }
print(parseInt("ff", 16), 0.1 + 0.2, 7 % 3, -7 >> 1, -7 >>> 28, isNaN("x" * 1), [1, 2, 3].indexOf(2));
print(eval("1 + " + 41), new Function("a", "b", "return a * b")(6, 7), String(new Date(0).getTime()));
var text = ""; do { text += String.fromCharCode(97 + text.length); } while (text.length < 6); print(text);
with ({ inside: 3 }) { print(inside); }
print(Object.keys({ q: 1, r: 2 }), Array.isArray([]), "a-b-c".split("-").length, /(\d+)-(\d+)/.exec("10-20")[2]);
let s = 0; for each (var n in [1, 2, 3]) { s += n; } print(s);
