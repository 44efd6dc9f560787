/** Without a token the page can show nothing, and says how to get one. */
export function SignedOut({ problem }: { readonly problem: string }) {
  return (
    <main className="signed-out">
      <h1>Hawser is running</h1>
      {problem !== '' && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <p>
        To see your Sessions here, run <code>hawser up --open</code>. It opens this page with a link
        that works once.
      </p>
      <p className="quiet">
        This page is served by your own machine and loads nothing from elsewhere. Programs use the
        API with the token in the file <code>token</code> of your Hawser home.
      </p>
    </main>
  )
}
