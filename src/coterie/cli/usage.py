"""What can be wrong with a command line itself: names that do not exist, and options that say two things."""

from inspect import cleandoc
from typing import Any

from typer.core import TyperCommand

from coterie.errors import UsageError, hint


class Command(TyperCommand):
    """A command that refuses an option given twice, as the first value would be ignored in silence, and names all that miss."""

    def __init__(self, *words: Any, **named: Any):
        """Paragraphs of the help are filled to the terminal, arguments stand in capitals, and a flag takes no value to name."""
        super().__init__(*words, **named)
        paragraphs = cleandoc(self.help or "").split("\n\n")
        self.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        for one in self.params:
            if one.metavar is None and one.param_type_name == "argument":
                one.metavar = str(one.name).upper()
            elif one.metavar is None and getattr(one, "is_flag", False):
                one.metavar = " "

    def get_help_option(self, ctx: Any) -> Any:
        found = super().get_help_option(ctx)
        if found is not None:
            found.metavar = " "
        return found

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Some releases of typer put what must be given into braces."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = args[: args.index("--") if "--" in args else len(args)]
        for option in self.params:
            if option.param_type_name == "option" and not getattr(option, "multiple", False):
                given = [word for word in words if word.partition("=")[0] in option.opts]
                if len(given) > 1:
                    raise UsageError(f"{given[1].partition('=')[0]} must be given once, got it {len(given)} times")
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            known = {word.partition("=")[0] for word in words}
            missing = [option.opts[0] for option in self.params if option.required and not known.intersection(option.opts)]
            if type(error).__name__ == "MissingParameter" and all(name.startswith("--") for name in missing):
                raise UsageError(f"{', '.join(missing)} must be given (coterie {self.name} --help says more)") from None
            raise


def words_of(error: Any) -> str:
    """The first line of what the parser of the command line says, with the nearest name where one is unknown."""
    text = error.format_message().splitlines()[0]
    if getattr(error, "ctx", None) is None:
        return text
    command = error.ctx.command
    if text.startswith("No such option"):
        known = [name for option in command.params for name in option.opts]
        return f"No such option: {error.option_name}{hint(error.option_name, known)}"
    if text.startswith("No such command"):
        name = text.split("'")[1]
        return f"No such command: {name}{hint(name, command.commands)}"
    return text
