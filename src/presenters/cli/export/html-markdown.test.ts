import { expect, test } from 'vitest'
import { callText } from './call-text.ts'
import { markdownHtml } from './html-markdown.ts'
import { diffHtml } from './html-text.ts'

test.each([
  ['# Title', '<h4>Title</h4>\n'],
  [
    'a **b** _c_ ~~d~~ `e<`',
    '<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e&lt;</code></p>\n',
  ],
  ['- a\n- b', '<ul>\n<li>a\n</li>\n<li>b\n</li>\n</ul>\n'],
  ['3. a\n4. b', '<ol start="3">\n<li>a\n</li>\n<li>b\n</li>\n</ol>\n'],
  ['```ts\nif (a < b) {}\n```', '<pre class="code" tabindex="0">\nif (a &lt; b) {}</pre>\n'],
  ['> quoted', '<blockquote>\n<p>quoted</p>\n</blockquote>\n'],
  [
    '| a | b |\n|---|---|\n| 1 | 2 |',
    '<table>\n<thead>\n<tr><th>a</th><th>b</th></tr>\n</thead>\n<tbody>\n<tr><td>1</td><td>2</td></tr>\n</tbody>\n</table>\n',
  ],
  [
    '[here](https://example.org/?a=1&b="2")',
    '<p><a href="https://example.org/?a=1&amp;b=%222%22" rel="noopener noreferrer">here</a> (https://example.org/?a=1&amp;b=%222%22)</p>\n',
  ],
  ['[x](javascript:alert(1))', '<p>x (javascript:alert(1))</p>\n'],
  ['![x](http://a.b/c.png)', '<p>[image: x] (http://a.b/c.png)</p>\n'],
])('%j is rendered', (source, html) => {
  expect(markdownHtml(source).replaceAll('&quot;', '%22')).toBe(html)
})

test('HTML of the source is shown as text, wherever it is', () => {
  const hostile =
    '<script>alert(1)</script>\n\ntext <img src=x onerror=alert(1)> `<b>` &lt;i&gt;\n\n- <u>\n\n| <a> |\n|---|\n| <hr> |\n'
  const tags = markdownHtml(hostile).match(/<[a-z]+/g)
  expect(new Set(tags)).toEqual(
    new Set([
      '<pre',
      '<p',
      '<code',
      '<ul',
      '<li',
      '<table',
      '<thead',
      '<tr',
      '<th',
      '<tbody',
      '<td',
    ]),
  )
})

test('a diff is divided into runs of added, removed and other lines', () => {
  const diff = '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n same\n-old <b>\n+new\n'
  expect(diffHtml(diff).match(/class="\w+"/g)).toEqual([
    'class="diff"',
    'class="file"',
    'class="place"',
    'class="same"',
    'class="removed"',
    'class="added"',
  ])
  expect(diffHtml(diff)).toContain('\n-old &lt;b&gt;\n')
})

test.each([
  ['bash', { command: 'npm test', timeout_ms: 5 }, '$ npm test\ntimeout_ms: 5'],
  ['read', { path: 'a.ts', from_line: 3 }, 'path: a.ts\nfrom_line: 3'],
  ['write', { path: 'a.ts', content: 'x\ny\n' }, 'path: a.ts\n\nx\ny\n'],
  ['grep', { pattern: 'a|b', path: 'src' }, 'pattern: a|b\npath: src'],
  [
    'edit',
    { path: 'a.ts', edits: [{ old_text: 'a\nb', new_text: 'c' }] },
    'path: a.ts\nreplace:\n    a\n    b\nwith:\n    c',
  ],
  [
    'update_plan',
    {
      entries: [
        { content: 'Read', status: 'completed' },
        { content: 'Moor', status: 'in_progress' },
        { content: 'Call', status: 'pending' },
        7,
      ],
    },
    '[x] Read\n[>] Moor\n[ ] Call\n7',
  ],
  ['other', { deep: { x: [1] } }, 'deep: {"x":[1]}'],
])('the arguments of %s are readable', (name, args, text) => {
  expect(callText({ call_id: 'c', name, arguments: JSON.stringify(args) })).toBe(text)
})

test('arguments that are not an object are shown as they are', () => {
  expect(callText({ call_id: 'c', name: 'bash', arguments: '{"command": ' })).toBe('{"command": ')
})
