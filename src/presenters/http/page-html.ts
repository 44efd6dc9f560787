/** What `/` shows where the app was not built: a program that was started from its sources. */
export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Hawser</title>
</head>
<body>
<h1>Hawser is running</h1>
<p>The app for browsers is not built here. Run <code>npm run build</code>, and start the server again. The API works without it:
see <code>docs/http.md</code>.</p>
</body>
</html>
`
