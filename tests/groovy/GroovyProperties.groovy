// Accessors of properties are left out.
package targets.groovy

class GroovyProperties {
    String name // nothing
    int age = 1

    int getTwice() {
        return 2 * age // covered
    }

    static void main(String[] arguments) {
        def person = new GroovyProperties(name: "a") // covered
        person.name // covered
        person.twice // covered
    } // covered
}
