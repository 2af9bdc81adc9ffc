// A fixed piece of work for Groovy: closures, collections, dynamic calls, traits, builders, exceptions.
trait Named {
    String name
    String greeting() { "I am $name" }
}

class Robot implements Named {
    int power = 3
    def methodMissing(String what, arguments) { "$name cannot $what${arguments.length ? ' ' + arguments.join('-') : ''}" }
}

@groovy.transform.CompileStatic
class Sums {
    static long triangle(int n) {
        long sum = 0
        for (int i = 1; i <= n; i++) { sum += i }
        return sum
    }
}

@groovy.transform.Immutable
class Point { int x, y }

def robot = new Robot(name: 'Ada')
println robot.greeting()
println robot.fly('high', 'far')
println Sums.triangle(100)
println new Point(1, 2)
println([3, 1, 2].sort().collect { it * it }.inject(0) { a, b -> a + b })
println((1..20).groupBy { it % 3 == 0 ? 'fizz' : it % 5 == 0 ? 'buzz' : 'none' }.collectEntries { k, v -> [k, v.size()] }.sort())
println 'the quick brown fox'.split(' ')*.capitalize().join(' ')
println 'a1b22c333'.findAll(/\d+/)*.toInteger().sum()
switch ('groovy') {
    case ~/g.*y/: println 'a pattern'; break
    case String: println 'a string'; break
}
try {
    new Point(1, 2).x = 5
} catch (ReadOnlyPropertyException refused) {
    println refused.message
}
def fibonacci
fibonacci = { n -> n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2) }
println fibonacci(15)
println new StringWriter().with { w -> w << 'x' * 3; w.toString() }
assert 10.5G + 1 == 11.5G
println((2G**70).toString() + ' ' + 7.intdiv(2) + ' ' + (1.0 / 3).setScale(4, java.math.RoundingMode.HALF_UP))
