package io.github.classhook.maven;

import io.github.classhook.build.AgentOptions;
import io.github.classhook.build.Recorded;
import java.io.File;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.apache.maven.plugin.MojoExecutionException;

/** Sets the property with the options of test JVMs, so that they load the agent. */
public final class PrepareAgent extends Goal {
    private File destFile;
    private boolean append;
    private List<String> includes;
    private List<String> excludes;
    private String propertyName;
    private String output;
    private boolean inclBootstrapClasses;
    private boolean inclNoLocationClasses;
    private String exclClassLoaders;
    private boolean dumpOnExit;
    private String sessionId;
    private File classDumpDir;
    private Boolean jmx;
    private String address;
    private Integer port;
    private String fileName;
    private boolean exactLines;

    @Override
    void run() throws IOException, MojoExecutionException {
        refuseUnsupported();
        destFile = own(destFile);
        Recorded.makeRoom(destFile, append);
        String agent = argument("-agentpath:" + tools().library() + "=" + options());
        Properties properties = project.getProperties();
        String name = property();
        String noted = AGENT + name;
        String others = properties.getProperty(name, "");
        String before = properties.getProperty(noted);
        if (before != null) {
            others = others.replace(before, "").trim();
        }
        properties.setProperty(noted, agent);
        properties.setProperty(name, others.isEmpty() ? agent : agent + " " + others);
        getLog().info(name + " set to " + properties.getProperty(name));
    }

    /** Sets the property in any case: a configuration may use it. */
    @Override
    void skipped() {
        Properties properties = project.getProperties();
        if (properties.getProperty(property()) == null) {
            properties.setProperty(property(), "");
            getLog().info(property() + " set to empty");
        }
    }

    private String property() {
        if (propertyName != null && !propertyName.isEmpty()) {
            return propertyName;
        }
        return "eclipse-test-plugin".equals(project.getPackaging()) ? "tycho.testArgLine" : "argLine";
    }

    private void refuseUnsupported() throws MojoExecutionException {
        refuse("output", output, output != null && !output.equals("file") && !isServer());
        refuse("inclBootstrapClasses", true, inclBootstrapClasses);
        refuse("dumpOnExit", false, !dumpOnExit);
        warnIgnored("sessionId", sessionId);
        warnIgnored("classDumpDir", classDumpDir);
        warnIgnored("jmx", jmx);
        if (!isServer()) {
            warnIgnored("address", address);
            warnIgnored("port", port);
        }
    }

    private boolean isServer() {
        return "tcpserver".equals(output);
    }

    private static void refuse(String parameter, Object value, boolean isSet) throws MojoExecutionException {
        if (isSet) {
            throw new MojoExecutionException("Classhook does not support <" + parameter + ">" + value + "</" + parameter
                    + "> of JaCoCo's plugin; remove it, or use the agent's own options (docs/options.md)");
        }
    }

    private String options() throws IOException {
        String name = fileName == null ? "" : ",file-name=" + AgentOptions.value("fileName", fileName);
        List<String> loaders = exclClassLoaders == null ? null : Collections.singletonList(exclClassLoaders);
        AgentOptions options = new AgentOptions(snapshots()).classes(includes, excludes).withoutLoaders(loaders)
                .withoutLocation(inclNoLocationClasses).exactLines(exactLines);
        return options.text() + name + server();
    }

    /** With a server, only the data that the goal dump receives is reported. */
    private File snapshots() {
        return isServer() ? new File(project.getBuild().getDirectory(), "classhook/tcpserver") : destFile;
    }

    private String server() throws IOException {
        if (!isServer()) {
            return "";
        }
        String host = address == null ? "" : AgentOptions.value("address", address) + ":";
        return ",jacoco-tcp=" + host + (port == null ? 6300 : port);
    }

    private static String argument(String text) {
        return text.indexOf(' ') < 0 && text.indexOf('*') < 0 && text.indexOf(';') < 0 ? text : '"' + text + '"';
    }
}
