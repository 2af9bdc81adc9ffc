// Statically compiled code.
package targets.groovy

import groovy.transform.CompileStatic

@CompileStatic
class GroovyStatic {
    static int count(List<String> texts) {
        int count = 0 // covered
        for (String text : texts) { // branches 4/6
            if (text.length() > 1) { // branches 2/4
                count++ // partly
            }
        }
        return count // covered
    }

    static void main(String[] arguments) {
        count(["a"]) // covered
    } // covered
}
