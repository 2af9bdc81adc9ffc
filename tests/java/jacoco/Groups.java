import java.io.File;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IBundleCoverage;
import org.jacoco.core.analysis.ICounter.CounterValue;
import org.jacoco.core.analysis.ICoverageNode.CounterEntity;
import org.jacoco.core.analysis.ICoverageNode.ElementType;
import org.jacoco.core.tools.ExecFileLoader;
import org.jacoco.report.IReportGroupVisitor;
import org.jacoco.report.IReportVisitor;
import org.jacoco.report.check.Limit;
import org.jacoco.report.check.Rule;
import org.jacoco.report.check.RulesChecker;
import org.jacoco.report.csv.CSVFormatter;
import org.jacoco.report.xml.XMLFormatter;

/**
 * Modules as groups of one report, and rules over each of them, by JaCoCo's own API.
 *
 * <p>Arguments: the recorded data, rules, the XML and the CSV report to write, then NAME=CLASSES for each module. A rule
 * is a line: element, counter, value, minimum or -, maximum or -. What violates the rules is printed.
 */
class Groups {
    public static void main(String[] args) throws Exception {
        ExecFileLoader data = new ExecFileLoader();
        data.load(new File(args[0]));
        List<IBundleCoverage> modules = new ArrayList<>();
        for (String argument : List.of(args).subList(4, args.length)) {
            String[] module = argument.split("=", 2);
            CoverageBuilder builder = new CoverageBuilder();
            new Analyzer(data.getExecutionDataStore(), builder).analyzeAll(new File(module[1]));
            modules.add(builder.getBundle(module[0]));
        }
        report(data, modules, new XMLFormatter().createVisitor(new FileOutputStream(args[2])));
        report(data, modules, new CSVFormatter().createVisitor(new FileOutputStream(args[3])));
        RulesChecker checker = new RulesChecker();
        checker.setRules(rules(Path.of(args[1])));
        IReportVisitor visitor =
                checker.createVisitor((node, rule, limit, message) -> System.out.println(message));
        for (IBundleCoverage module : modules) {
            visitor.visitBundle(module, null);
        }
    }

    static void report(ExecFileLoader data, List<IBundleCoverage> modules, IReportVisitor visitor)
            throws Exception {
        visitor.visitInfo(
                data.getSessionInfoStore().getInfos(), data.getExecutionDataStore().getContents());
        IReportGroupVisitor group = visitor.visitGroup("All");
        for (IBundleCoverage module : modules) {
            group.visitBundle(module, null);
        }
        visitor.visitEnd();
    }

    static List<Rule> rules(Path file) throws Exception {
        List<Rule> rules = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            String[] words = line.split(" ");
            Limit limit = new Limit();
            limit.setCounter(CounterEntity.valueOf(words[1]).name());
            limit.setValue(CounterValue.valueOf(words[2]).name());
            limit.setMinimum(words[3].equals("-") ? null : words[3]);
            limit.setMaximum(words[4].equals("-") ? null : words[4]);
            Rule rule = new Rule();
            rule.setElement(ElementType.valueOf(words[0]));
            rule.getLimits().add(limit);
            rules.add(rule);
        }
        return rules;
    }
}
