import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/** Sells a few things. */
public class Shop {
    public static void main(String[] arguments) throws SQLException {
        try (Connection shop = DriverManager.getConnection("jdbc:h2:mem:shop");
                Statement statement = shop.createStatement()) {
            statement.execute("create table sold(thing varchar)");
            try (PreparedStatement sell = shop.prepareStatement("insert into sold values (?)")) {
                for (String thing : new String[] {"apple", "pear", "plum"}) {
                    sell.setString(1, thing);
                    sell.executeUpdate();
                }
            }
            System.out.println("sold " + (statement.executeQuery("select * from sold").next() ? "some" : "nothing"));
        }
    }
}
