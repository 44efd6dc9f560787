import type { Handler } from 'hono'

/** Shown to a person who opens the address in a browser. Static: it needs no token and reveals nothing. */
export const landingPage: Handler = (context) =>
  context.html(PAGE, 200, {
    'content-security-policy':
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  })

export const landingStyle: Handler = (context) =>
  context.body(STYLE, 200, { 'content-type': 'text/css; charset=utf-8' })

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hawser</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1>Hawser is running</h1>
<p>This is the local server of Hawser, an agent harness that records each Session in one append-only Log. It listens on
this machine only.</p>
<h2>Use it from a program</h2>
<p>Every route below needs the token in the file <code>token</code> of your Hawser home, which is
<code>~/.hawser</code> unless <code>HAWSER_HOME</code> is set. If the address of this page has another port, use that one.</p>
<pre><code>curl -H @&lt;(echo "Authorization: Bearer $(cat ~/.hawser/token)") \\
  http://127.0.0.1:4600/api/harness/limits</code></pre>
<table>
<thead><tr><th>Route</th><th>Purpose</th></tr></thead>
<tbody>
<tr><td><code>POST /api/harness/session/create</code></td><td>create a Session in a folder</td></tr>
<tr><td><code>GET /api/harness/session/list</code></td><td>list the Sessions of a folder</td></tr>
<tr><td><code>GET /api/harness/session/:id</code></td><td>show a Session</td></tr>
<tr><td><code>DELETE /api/harness/session/:id</code></td><td>delete a Session permanently</td></tr>
<tr><td><code>GET /api/harness/session/:id/resources/:resource</code></td><td>read a Resource</td></tr>
<tr><td><code>PUT /api/harness/attachments</code></td><td>upload a file to attach later</td></tr>
<tr><td><code>POST /api/harness/attachments/check</code></td><td>check whether files can be attached</td></tr>
<tr><td><code>GET /api/harness/limits</code></td><td>show the limits of this server</td></tr>
<tr><td><code>GET /api/harness/models</code></td><td>list the known models</td></tr>
<tr><td><code>GET /healthz</code></td><td>check that the server answers; needs no token</td></tr>
</tbody>
</table>
<h2>Use it from a terminal</h2>
<pre><code>hawser            # start a conversation in this folder
hawser status     # show where this server listens
hawser down       # stop it</code></pre>
</main>
</body>
</html>
`

const STYLE = `:root { color-scheme: light dark; --edge: #8884; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
code, pre { font: .9em/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .8rem 1rem; border: 1px solid var(--edge); border-radius: .4rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .4rem .6rem .4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--edge); }
td code { overflow-wrap: anywhere; }
`
