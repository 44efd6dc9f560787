import { Lexer, walkTokens } from 'marked'

/** For spies: every text that Hawser lexes passes through it. */
export const markdownLexer = Lexer.prototype

/** The types of all tokens as another program would find them, with the depth of each heading. */
export function tokenTypes(markdown: string): Set<string> {
  const types = new Set<string>()
  void walkTokens(new Lexer().lex(markdown), (token) => {
    types.add('depth' in token ? `${token.type} ${String(token.depth)}` : token.type)
  })
  return types
}
