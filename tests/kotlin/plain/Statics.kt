// `@JvmStatic` functions with and without parameters.
package kotlincases.statics
class Stat {
    companion object {
        @JvmStatic fun i(a: Int): Int = a
        @JvmStatic fun s(a: String): Int = a.length
        @JvmStatic fun sn(a: String?): Int = 3
        @JvmStatic fun l(a: Long): Int = 3
        @JvmStatic fun ii(a: Int, b: Int): Int = 3
        @JvmStatic fun il(a: Int, b: Long): Int = 3
        @JvmStatic fun ss(a: String?, b: String?): Int = 3
        @JvmStatic fun d(a: Double): Double = a
        @JvmStatic fun z(a: Boolean): Boolean = a
        @JvmStatic fun ilo(a: Int, b: Long, c: String?): Int = 3
        @JvmStatic fun ilor(a: Int, b: Long, c: String?): Stat? = null
        @JvmStatic fun multi(a: Int,
              b: Int): Int {
            println(a)
            return b
        }
        @JvmStatic fun def(a: Int = 3): Int = a
        @JvmStatic private fun pi(a: Int): Int = a
        @JvmStatic internal fun int(a: Int): Int = a
        @JvmStatic protected fun prot(a: Int): Int = a
        @JvmStatic var prop: Int = 3
           @JvmStatic get() = field + 1
           @JvmStatic set(v) { field = v + 2 }
        @get:JvmStatic val prop2: Int get() = 3
        fun callpi() = pi(3)
    }
}
class Named2 { companion object Fact { @JvmStatic fun i(): Int = 3;  @JvmStatic fun j(a: Int): Int = 3 } }
interface If { companion object { @JvmStatic fun i(a: Int): Int = a 
   @JvmStatic fun j(): Int = 3 } }
interface IfN { companion object Zzz { @JvmStatic fun i(): Int = 3 } }
