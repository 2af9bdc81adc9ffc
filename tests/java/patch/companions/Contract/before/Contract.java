/** An interface that gets methods. */
public interface Contract {
    String name();

    default String text() {
        return "old " + name();
    }

    static String answer() {
        return new ContractOne().text() + ((Contract) () -> "two").text();
    }
}

class ContractOne implements Contract {
    @Override
    public String name() {
        return "one";
    }
}
