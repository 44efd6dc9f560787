/** The glob of a kind of file, named by its extension (`.ts`, `ts`) or in words ("TypeScript"). */
export function globOfKind(said: string): string | undefined {
  const word = said.toLowerCase()
  if (/^\.\w[\w.]*$/.test(word)) return `**/*${said}`
  const extension = EXTENSIONS[word] ?? (KNOWN.has(word) ? word : undefined)
  return extension === undefined ? undefined : `**/*.${extension}`
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  typescript: 'ts',
  javascript: 'js',
  python: 'py',
  markdown: 'md',
  text: 'txt',
  rust: 'rs',
  golang: 'go',
  ruby: 'rb',
  'c++': 'cpp',
  header: 'h',
  shell: 'sh',
  bash: 'sh',
  kotlin: 'kt',
  perl: 'pl',
  jpeg: 'jpg',
  csharp: 'cs',
  'c#': 'cs',
  stylesheet: 'css',
}

const KNOWN = new Set(
  (
    'ts tsx js jsx mjs cjs py md mdx rs rb txt sh json yaml yml toml html htm css scss csv tsv ' +
    'xml svg png jpg gif webp pdf log java php sql swift lua ini cfg conf env lock zip go c h ' +
    'cpp hpp cs kt pl r tex vue svelte ipynb proto graphql'
  ).split(' '),
)
