/** The page for a person who opens the address in a browser. Without a token it shows only what everybody knows. */
export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Hawser</title>
<link rel="stylesheet" href="/style.css">
<script src="/page.js" defer></script>
</head>
<body>
<main>
<header>
<h1>Hawser is running</h1>
<button id="sign-out" type="button" hidden>Sign out</button>
</header>
<p>This is the local server of Hawser, an agent harness that records each Session in one append-only Log. It listens on
this machine only.</p>
<p id="message" role="status" hidden></p>
<section id="signed-out">
<p>To see your Sessions here, run <code>hawser up --open</code>. It prints a link that works once.</p>
<noscript><p>This page needs JavaScript to show your Sessions. The API does not.</p></noscript>
</section>
<section id="signed-in" aria-labelledby="sessions-title" hidden>
<h2 id="sessions-title">Sessions</h2>
<form id="choose">
<label for="folder">Folder</label>
<input id="folder" name="folder" required spellcheck="false" autocomplete="off" placeholder="the absolute path of a project">
<button type="submit">Show</button>
</form>
<div class="wide">
<table id="sessions" hidden>
<thead><tr><th>Title</th><th>Turns</th><th>Model</th><th>Last change</th><th>State</th></tr></thead>
<tbody></tbody>
</table>
</div>
</section>
<details id="about" open>
<summary>Use it from a program or a terminal</summary>
<p>Every route needs the token in the file <code>token</code> of your Hawser home, which is <code>~/.hawser</code> unless
<code>HAWSER_HOME</code> is set.</p>
<pre><code>HAWSER=$(hawser status | sed -n 's/^The local server is running: //p')
curl -H @&lt;(echo "Authorization: Bearer $(cat ~/.hawser/token)") \\
  "$HAWSER/api/harness/limits"</code></pre>
<div class="wide">
<table>
<thead><tr><th>Route</th><th>Purpose</th></tr></thead>
<tbody>
<tr><td><code>POST /api/harness/session/create</code></td><td>create a Session in a folder</td></tr>
<tr><td><code>GET /api/harness/session/list</code></td><td>list the Sessions of a folder</td></tr>
<tr><td><code>GET /api/harness/session/:id</code></td><td>show a Session</td></tr>
<tr><td><code>GET /api/harness/session/:id/events</code></td><td>watch a Session</td></tr>
<tr><td><code>POST /api/harness/turn</code></td><td>run a Turn</td></tr>
<tr><td><code>POST /api/harness/permission</code></td><td>answer a question</td></tr>
<tr><td><code>PUT /api/harness/attachments</code></td><td>upload a file to attach later</td></tr>
<tr><td><code>GET /api/harness/limits</code></td><td>show the limits of this server</td></tr>
<tr><td><code>GET /healthz</code></td><td>check that the server answers; needs no token</td></tr>
</tbody>
</table>
</div>
<pre><code>hawser            # start a conversation in this folder
hawser status     # show where this server listens
hawser down       # stop it</code></pre>
</details>
</main>
</body>
</html>
`
