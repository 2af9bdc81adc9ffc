// Closures are classes of their own.
package targets.groovy

class GroovyClosures {
    static void main(String[] arguments) {
        def twice = { number -> // covered
            2 * number // covered
        }
        def unused = { number -> // covered
            3 * number // missed
        }
        twice(1) // covered
        [1, 2].each { println() } // covered
        [].each { println() } // partly
    } // covered
}
