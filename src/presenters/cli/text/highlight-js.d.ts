/** What we use of highlight.js: its own types bring those of browsers into every file. `tsconfig.json` names this file. */
export declare const HighlightJS: {
  readonly getLanguage: (name: string) => object | undefined
  readonly highlight: (
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ) => { readonly value: string }
}
