import java.io.StringReader;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.util.List;

/**
 * Repeats one kind of work until its thread has used the given seconds of CPU time, and then for the given number of rounds.
 * At its end it prints, for each round, the CPU time of the thread at the round's end, in nanoseconds.
 * Libraries without an interface in the JDK are called by reflection, so that this file compiles without them.
 */
public class Steady {
    interface Work {
        /** A number that depends on the whole work, so that no compiler removes a part. */
        long round() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Work work = work(arguments[0]);
        long late = Long.parseLong(arguments[1]) * 1_000_000_000L;
        int more = Integer.parseInt(arguments[2]);
        ThreadMXBean times = ManagementFactory.getThreadMXBean();
        long[] ends = new long[1 << 20];
        int rounds = 0;
        long expected = work.round();
        while (more > 0 && rounds < ends.length) {
            expect(expected, work.round());
            ends[rounds++] = times.getCurrentThreadCpuTime();
            if (ends[rounds - 1] >= late) more--;
        }
        for (int round = 0; round < rounds; round++) System.out.println(ends[round]);
    }

    static void expect(long expected, long found) {
        if (found != expected) throw new AssertionError("expected " + expected + ", found " + found);
    }

    static Work work(String name) throws Exception {
        switch (name) {
            case "h2": return h2();
            case "rhino": return rhino();
            case "saxon": return saxon();
            case "javac": return javac();
            case "gson": return gson();
            default: throw new IllegalArgumentException(name);
        }
    }

    static Work h2() throws Exception {
        java.sql.Connection connection = java.sql.DriverManager.getConnection("jdbc:h2:mem:");
        java.sql.Statement statement = connection.createStatement();
        statement.execute("create table item(id int primary key, name varchar(20), price int, kind int)");
        statement.execute("create index kinds on item(kind)");
        for (int i = 0; i < 1_000; i++)
            statement.execute("insert into item values(" + i + ", 'item " + i + "', " + i * 7 % 100 + ", " + i % 20 + ")");
        return () -> {
            long sum = 0;
            for (int kind = 0; kind < 20; kind++) {
                String query = "select a.name, sum(b.price) from item a join item b on a.kind = b.kind where a.kind = "
                        + kind + " and b.price > 50 and a.name like '%" + kind + "' group by a.name order by 2 desc, 1";
                java.sql.ResultSet rows = statement.executeQuery(query);
                while (rows.next()) sum += rows.getString(1).length() + rows.getLong(2);
            }
            return sum;
        };
    }

    /** Uses the interpreter, which is the default where no classes may be generated. */
    static Work rhino() throws Exception {
        Class<?> type = Class.forName("org.mozilla.javascript.Context");
        Class<?> scopes = Class.forName("org.mozilla.javascript.Scriptable");
        Object context = type.getMethod("enter").invoke(null);
        type.getMethod("setOptimizationLevel", int.class).invoke(context, -1);
        Object scope = type.getMethod("initStandardObjects").invoke(context);
        String source = "var found = 0; for (var i = 0; i < 20000; i++) {"
                + " var o = {a: i, b: [i, i + 1]}; found = (found * 31 + o.a + o.b[1] % 7) % 65521; } found";
        Object script = type.getMethod("compileString", String.class, String.class, int.class, Object.class)
                .invoke(context, source, "steady", 1, null);
        java.lang.reflect.Method exec =
                Class.forName("org.mozilla.javascript.Script").getMethod("exec", type, scopes);
        return () -> ((Number) exec.invoke(script, context, scope)).longValue();
    }

    static Work saxon() throws Exception {
        Object made = Class.forName("net.sf.saxon.TransformerFactoryImpl").getConstructor().newInstance();
        javax.xml.transform.TransformerFactory factory = (javax.xml.transform.TransformerFactory) made;
        String sheet = "<xsl:stylesheet version='2.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
                + "<xsl:template match='/all'><sums><xsl:for-each-group select='item' group-by='@kind'>"
                + "<xsl:sort select='current-grouping-key()'/><sum kind='{current-grouping-key()}'>"
                + "<xsl:value-of select='sum(current-group()/@price)'/>"
                + "<xsl:for-each select='current-group()[contains(., \"7\")]'><n><xsl:value-of select='upper-case(.)'/></n>"
                + "</xsl:for-each></sum></xsl:for-each-group></sums></xsl:template></xsl:stylesheet>";
        javax.xml.transform.Templates templates =
                factory.newTemplates(new javax.xml.transform.stream.StreamSource(new StringReader(sheet)));
        StringBuilder input = new StringBuilder("<all>");
        for (int i = 0; i < 2_000; i++)
            input.append("<item kind='" + i % 17 + "' price='" + i * 7 % 100 + "'>item " + i + "</item>");
        String text = input.append("</all>").toString();
        return () -> {
            StringWriter out = new StringWriter();
            templates.newTransformer().transform(
                    new javax.xml.transform.stream.StreamSource(new StringReader(text)),
                    new javax.xml.transform.stream.StreamResult(out));
            return out.toString().hashCode();
        };
    }

    /** Runs the compiler without writing class files, which costs the same in all variants. */
    static Work javac() {
        javax.tools.JavaCompiler compiler = javax.tools.ToolProvider.getSystemJavaCompiler();
        StringBuilder source = new StringBuilder("class Made {");
        for (int i = 0; i < 200; i++)
            source.append("<T extends Comparable<T>> java.util.List<T> m" + i + "(java.util.Map<String, T> in, int n) {"
                    + " java.util.List<T> out = new java.util.ArrayList<>(); int left = n;"
                    + " for (java.util.Map.Entry<String, T> e : in.entrySet()) { if (left-- > 0 && e.getKey().length() > "
                    + i + ") out.add(e.getValue()); } out.sort((a, b) -> a.compareTo(b)); return out; }");
        String text = source.append("}").toString();
        javax.tools.JavaFileObject file = new javax.tools.SimpleJavaFileObject(
                URI.create("string:///Made.java"), javax.tools.JavaFileObject.Kind.SOURCE) {
            @Override public CharSequence getCharContent(boolean ignore) { return text; }
        };
        return () -> {
            var task = (com.sun.source.util.JavacTask) compiler.getTask(
                    null, null, null, List.of("-proc:none"), null, List.of(file));
            long members = 0;
            for (var element : task.analyze()) members += element.getEnclosedElements().size();
            return members;
        };
    }

    static Work gson() throws Exception {
        Class<?> type = Class.forName("com.google.gson.Gson");
        Object gson = type.getConstructor().newInstance();
        java.lang.reflect.Method read = type.getMethod("fromJson", String.class, Class.class);
        java.lang.reflect.Method write = type.getMethod("toJson", Object.class);
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < 1_000; i++)
            text.append(i == 0 ? "" : ",").append("{\"id\":" + i + ",\"name\":\"item " + i
                    + "\",\"tags\":[\"a\",\"b\\u0041\",null],\"price\":" + i + ".5,\"sold\":" + (i % 2 == 0) + "}");
        String json = text.append("]").toString();
        return () -> write.invoke(gson, read.invoke(gson, json, Object.class)).hashCode();
    }
}
