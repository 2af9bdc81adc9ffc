// Members made by transformations are left out.
package targets.groovy

import groovy.transform.Canonical

@Canonical
class GroovyCanonical {
    String left // nothing
    int right // nothing

    String both() {
        return left + right // covered
    }

    static void main(String[] arguments) {
        new GroovyCanonical("a", 1).both() // covered
    } // covered
}
