// A grammar for ANTLR to turn into a parser.
grammar Calculator;

program : statement+ EOF ;

statement
    : ID '=' expression ';'       # assign
    | 'print' expression ';'      # print
    | 'if' expression block ('else' block)?   # branch
    ;

block : '{' statement* '}' ;

expression
    : <assoc=right> expression '^' expression   # power
    | expression ('*' | '/') expression         # product
    | expression ('+' | '-') expression         # sum
    | '-' expression                            # negative
    | '(' expression ')'                        # parens
    | ID '(' (expression (',' expression)*)? ')' # call
    | NUMBER                                    # number
    | ID                                        # name
    ;

ID : [a-zA-Z_] [a-zA-Z_0-9]* ;
NUMBER : [0-9]+ ('.' [0-9]+)? ;
SPACE : [ \t\r\n]+ -> skip ;
COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
