// Chains of safe calls over several lines, and null checks that are no chains.
package kotlincases.chains
class N(val n: N?, val s: String?, val i: Int) { fun f(): N? = n }
fun ret(x: N?): String {
    val y = x
        ?.n
        ?.s
        ?: return "s"
    return y
}
fun thr(x: N?): String =
    x
        ?.n
        ?.s
        ?: throw IllegalStateException()
fun prim(x: N?): Int =
    x
        ?.n
        ?.i
        ?: 0
fun call(x: N?): String =
    x
        ?.n
        ?.s
        ?: ret(x)
fun stmt(x: N?) {
    x
        ?.n
        ?.f()
}
fun lets(x: N?): String? =
    x
        ?.let { it.n }
        ?.let { it.s }
fun ands(x: N?): Int {
    if (x != null && x.n != null && x.s != null) return 1
    return 2
}
fun nested(x: N?): Int {
    if (x != null) {
        val y = x.f()
        if (y != null) {
            val z = y.f()
            if (z != null) return 3
        }
    }
    return 2
}
fun nested2(x: N?): Int {
    if (x != null) {
        val y = x.f()
        if (y != null) {
            println(y)
        }
    }
    return 2
}
fun letReturn(x: N?): Int {
    x?.f()?.let { return it.i }
    return 2
}
fun letReturn2(x: N?): Int {
    x
      ?.f()
      ?.let { return it.i }
    return 2
}
fun elvisLet(x: N?): Int =
    x
      ?.f()
      ?.let { it.i } ?: 3
fun elvisNode(x: N?): N? =
    x
      ?.f()
      ?.n
      ?: x
fun run(x: N?): N? {
    var y = x
    while (y != null) {
        val z = y.f()
        if (z == null) break
        y = z
    }
    return y
}
fun assign(x: N?): String? {
    val a = x?.n
    val b = a?.n
    return b?.s
}
fun assigned(x: N?): String? {
    val a = x?.n ?: return null
    val b = a.n ?: return null
    return b.s
}
fun assigned2(x: N?): String? {
    if (x == null) return null
    val b = x.n
    if (b == null) return null
    return b.s
}
fun eitherNull(a: String?, b: String?): String? {
    if (a == null || b == null) return null
    return a + b
}
fun eitherOfThreeNull(a: String?, b: String?, c: String?): String? {
    if (a == null || b == null || c == null) return null
    return a + b + c
}
fun eitherNullNumber(a: String?, b: String?): Int {
    if (a == null || b == null) return 1
    return 2
}
class Built @JvmOverloads constructor(val a: Int = 1, val inner: Any? = null) {
    @JvmOverloads
    fun again(a: Int = 2): Built = Built(a)
}
