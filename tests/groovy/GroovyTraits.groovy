// Traits and interfaces.
package targets.groovy

trait Named {
    String name() {
        return "named"
    }

    String unused() {
        return "unused" // nothing
    }
}

class GroovyTraits implements Named {
    static void main(String[] arguments) {
        new GroovyTraits().name() // covered
    } // covered
}
